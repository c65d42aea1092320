# Small runs of every kind of model, for tests of commands. Needs $bochner and die().

make_data() { # writes small data of every kind to data/, and questions next to it
  mkdir -p data/texts/good data/texts/bad
  awk 'BEGIN { for (i = 0; i < 600; ++i) print "line", i * i * 7919 % 1000, "of a text" }' >data/text.txt
  for i in $(seq 40); do
    echo "a nice and warm text number $i" >"data/texts/good/$i"
    echo "the worst of all texts is $i" >"data/texts/bad/$i"
  done
  awk 'BEGIN { print "month,load,price"; for (i = 0; i < 240; ++i)
    printf "%d-%02d,%.2f,%d\n", 2000 + i / 12, i % 12 + 1, 50 + 9 * sin(i / 2), i % 7 }' >data/series.csv
  awk 'BEGIN { print "time,type,who,kind"; for (k = 0; k < 6; ++k) for (i = 0; i < 50; ++i)
    printf "%d,%s,%d,%s\n", i * 7 + i % 5, i % 3 ? "buy" : "sell", k, k % 2 ? "odd" : "even" }' >data/events.csv
  awk 'BEGIN { print "time,x,heat"; for (i = 0; i < 300; ++i)
    printf "%d,%.1f,%s\n", i, i % 5, 20 + sin(i / 9 + i % 5) }' >data/sensors.csv
  awk 'BEGIN { print "a,b,y"; for (i = 0; i < 60; ++i) printf "%.2f,%d,%.3f\n", i / 7, i % 5, sin(i / 7) + i % 5 }' \
    >data/table.csv
  awk 'BEGIN { print "@problemName waves\n@classLabel true a b\n@data"; for (k = 0; k < 30; ++k) {
    for (i = 0; i < 40; ++i) printf "%s%.3f", i ? "," : "", sin(i * (k % 2 ? .4 : .6) + k); print k % 2 ? ":a" : ":b" } }' \
    >data/waves.ts
  awk 'BEGIN { print "series,label,x"; for (k = 0; k < 30; ++k) for (i = 0; i < 20; ++i)
    printf "%d,%d,%.2f\n", k, k % 5, i * (k % 5) + i % 3 }' >data/slopes.csv
  python3 - <<'END'
import struct
def npy(name, shape, values):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack("<%df" % len(values), *values))
frame = 8 * 8
npy("data/film.npy", (40, 8, 8), [float(i * i % 17) / 17 for i in range(40 * frame)])
npy("film.npy", (3, 8, 8), [float(i * i % 13) / 13 for i in range(3 * frame)])
pixels = bytes(255 * (i * i % 7 > 3) for i in range(60 * frame))
open("data/images-idx3", "wb").write(struct.pack(">IIII", 2051, 60, 8, 8) + pixels)
open("data/labels-idx1", "wb").write(struct.pack(">II", 2049, 60) + bytes(i % 2 for i in range(60)))
npy("images.npy", (2, 8, 8, 1), [float(p) for p in pixels[:2 * frame]])
END
  head -40 data/series.csv >series.csv
  awk -F, 'NR > 33 { $2 = "" } NR <= 40 { print $1 "," $2 "," $3 }' data/series.csv >next.csv
  head -20 data/events.csv >events.csv
  cut -d, -f1-3 events.csv >unlabelled.csv
  head -40 data/sensors.csv | sed '5,9s/,[^,]*$/,/' >sensors.csv
  cut -d, -f1,2 data/table.csv >table.csv
  head -8 data/waves.ts >waves.ts
  head -61 data/slopes.csv >slopes.csv
  echo "a text to judge" >text.txt
}

stack='model.blocks=1 model.width=8 model.mixer.kind=linear model.mixer.heads=1 model.mixer.m=4'

# NAME | keys | question | other commands
kinds() {
  cat <<END
lm|data.kind=bytes data.files=["data/text.txt"] data.length=32 $stack|text.txt|sample RUN --bytes 20 --seed 3;probe RUN --draws 2
tokens|model.kind=lm data.kind=event_files data.files=["data/events.csv"] data.sequence_column=who data.length=16 model.positions=none $stack|unlabelled.csv|probe RUN --draws 2
texts|model.kind=classifier data.kind=texts data.files=["data/texts/*/*"] data.length=32 $stack|text.txt|probe RUN --draws 2;predict RUN text.txt --coverage 0.5
words|model.kind=bag_of_words data.kind=texts data.files=["data/texts/*/*"] train.steps=0|text.txt|
bank|model.kind=filter_bank data.kind=labelled_series data.files=["data/waves.ts"] model.groups=2 train.steps=0|waves.ts|
learned_bank|model.kind=filter_bank data.kind=labelled_series data.files=["data/waves.ts"] model.groups=1|waves.ts|
series|model.kind=classifier data.kind=labelled_series data.files=["data/waves.ts"] model.patch.length=8 model.patch.stride=4 data.augment.warp=0.2 $stack|waves.ts|
numbers|model.kind=regressor data.kind=labelled_series data.labels=numbers data.files=["data/slopes.csv"] model.patch.length=4 model.loss=gaussian $stack|slopes.csv|
images|model.kind=classifier data.kind=images data.files=["data/*idx*"] $stack|images.npy|probe RUN --draws 2;predict RUN images.npy --coverage 0.5
labels|model.kind=classifier data.kind=event_files data.files=["data/events.csv"] data.sequence_column=who data.label_column=kind data.length=16 $stack|unlabelled.csv|probe RUN --draws 2
forecaster|model.kind=forecaster data.kind=series data.files=["data/series.csv"] data.lookback=14 data.horizon=7 model.backbone=linear|series.csv|predict RUN series.csv --coverage 0.5;predict RUN series.csv --anomaly;predict RUN series.csv --impute
ensemble|model.kind=ensemble data.kind=series data.files=["data/series.csv"] data.lookback=14 data.horizon=7 model.seasons=[7] train.steps=0|series.csv|predict RUN series.csv --coverage 0.5;predict RUN series.csv --anomaly;predict RUN series.csv --impute
rows|model.kind=forecaster data.kind=series data.files=["data/series.csv"] data.lookback=14 data.horizon=7 model.backbone=rows model.time=free data.known=["price"] data.columns=["load"] $stack|next.csv|probe RUN --draws 2
events|model.kind=events data.kind=event_files data.files=["data/events.csv"] data.sequence_column=who data.length=16 model.positions=none model.time=free $stack|unlabelled.csv|probe RUN --draws 2;predict RUN unlabelled.csv --anomaly
films|model.kind=field data.kind=field_files data.files=["data/film.npy"] data.frames=3 model.patch.pixels=4 model.encoding.space=4 model.encoding.time=4 $stack|film.npy|probe RUN --draws 2
sensors|model.kind=field data.kind=sensors data.files=["data/sensors.csv"] data.place_columns=["x"] data.length=16 model.encoding.space=4 model.encoding.time=4 $stack|sensors.csv|probe RUN --draws 2
gp|model.kind=gp data.kind=table data.files=["data/table.csv"] train.batch=1|table.csv|
table_ensemble|model.kind=ensemble data.kind=table data.files=["data/table.csv"] model.estimators=["ridge","additive"] train.steps=0|table.csv|predict RUN table.csv --coverage 0.5
vae|model.kind=vae data.kind=series data.files=["data/series.csv"] data.lookback=8 model.patch.length=4 model.vae.latent=2 $stack|series.csv|sample RUN --count 2 --seed 3;predict RUN series.csv --latent;probe RUN --draws 2
vae_images|model.kind=vae data.kind=images data.files=["data/*idx*"] model.patch.pixels=4 model.vae.latent=2 model.vae.discrete.categories=3 $stack|images.npy|sample RUN --count 2 --seed 3
contrastive|model.kind=contrastive data.kind=series data.files=["data/series.csv"] data.lookback=16 model.patch.length=4 $stack|series.csv|probe RUN --draws 2
END
}

no_torch=' ensemble table_ensemble words gp contrastive ' # not supported by PyTorch export

train() { # train NAME KEYS
  local sets=(--set train.steps=4 --set train.validate.every=2 --set optim.lr=0.01) key
  [[ $2 == *train.batch* ]] || sets+=(--set train.batch=4)
  for key in $2; do sets+=(--set "$key"); done
  : >empty.toml
  "$bochner" train empty.toml --run "runs/$1" "${sets[@]}" --progress none >log 2>&1 || die "train $1: $(tail -3 log)"
}
