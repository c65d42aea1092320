"""Statistics of ListOps by the recipe of the Long Range Arena (Tay et al. 2021), written independently, for
tests/data/text/list_ops_test.cpp. Needs nothing but Python; takes a minute."""

import random
from statistics import median

COUNT, DEEPEST, MOST_ARGUMENTS = 24000, 10, 10
OPERATIONS = (min, max, lambda values: int(median(values)), lambda values: sum(values) % 10)


def tree(depth):
    """Returns the value and the number of tokens of a random tree."""
    if depth == DEEPEST or random.random() > 0.25:
        return random.randrange(10), 1
    parts = [tree(depth + 1) for _ in range(random.randint(2, MOST_ARGUMENTS))]
    return random.choice(OPERATIONS)([value for value, _ in parts]), 2 + sum(tokens for _, tokens in parts)


random.seed(1)
labels, lengths = [0] * 10, []
while len(lengths) < COUNT:
    value, tokens = tree(1)
    if 500 < tokens < 2000:
        labels[value] += 1
        lengths.append(tokens)
mean = sum(lengths) / COUNT
print([round(count / COUNT, 4) for count in labels])
print(mean, (sum(x * x for x in lengths) / COUNT - mean * mean) ** 0.5)
