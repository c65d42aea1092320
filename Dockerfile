# The command in a small image. This file is written with the packages of Debian 12, but is not built by the tests.
#   docker build -t bochner .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" bochner train sales.csv
FROM debian:12-slim AS build
WORKDIR /source
COPY scripts/setup scripts/setup
RUN apt-get update && scripts/setup
COPY . .
RUN cmake --preset portable -D BOCHNER_TESTS=OFF && cmake --build --preset portable \
    && cmake --install build/portable --component command --prefix /usr/local --strip

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends \
      libdnnl2 libfmt9 libnlopt0 libopenblas0-pthread libsentencepiece0 libsndfile1 libtbb12 libxxhash0 zlib1g \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local /usr/local
WORKDIR /work
ENTRYPOINT ["bochner"]
CMD ["--help"]
