#!/bin/sh
# The mixtures of the shipped model. Usage: sh recipe.sh WORK, from this folder, after the pairs were written.
set -e
W=$1
CUT="--tokenizer $W/tokenizer.json --vocabulary $W/vocabulary.pt"
HELD="--held $W/snli.held.jsonl"

# Two members, on all word pieces.
python train.py --out $W/A.pt $HELD --seed 1 --mix $W/snli.learn.jsonl:3 --mix $W/breaking_nli.jsonl:0.35 \
  --mix $W/adversarial_train_15k.jsonl:0.5 --mix $W/conj_dev.jsonl --mix $W/med.jsonl --mix $W/prosecco.jsonl \
  --mix $W/prosecco_mnli.jsonl
python train.py --out $W/B.pt $HELD --seed 2 --rate 1.8e-4 --mix $W/snli.learn.jsonl:4 --mix $W/breaking_nli.jsonl:0.2 \
  --mix $W/med.jsonl:0.4 --mix $W/prosecco.jsonl --mix $W/prosecco_mnli.jsonl

# A student of both, without the held-out fold: its accuracy is the one to believe.
head -n 45000 $W/crossed.jsonl > $W/crossed.one.jsonl
tail -n +45001 $W/crossed.jsonl | head -n 26000 > $W/crossed.two.jsonl
python label.py --members $W/A.pt $W/B.pt --pairs $W/crossed.one.jsonl --out $W/crossed.one.soft.jsonl
python train.py --out $W/S1.pt $CUT $HELD --seed 21 --rate 1.8e-4 --smoothing 0.03 --mix $W/snli.learn.jsonl:3 \
  --mix $W/crossed.one.soft.jsonl --mix $W/worlds.jsonl:0.5 --mix $W/turned.jsonl:0.4 \
  --mix $W/adversarial_train_15k.jsonl:0.4 --mix $W/breaking_nli.jsonl:0.3 --mix $W/med.jsonl:0.8 \
  --mix $W/prosecco.jsonl --mix $W/prosecco_mnli.jsonl --mix $W/conj_dev.jsonl --mix $W/folio.jsonl:0.4

# The second stage: with the fold, less the pairs that calibrate, and with the pairs of dialogues.
python label.py --members $W/S1.pt $CUT --pairs $W/crossed.two.jsonl --out $W/crossed.two.soft.jsonl
python train.py --out $W/S2.pt --start $W/S1.pt $CUT --held $W/snli.calibrate.jsonl --seed 41 --rate 1e-4 \
  --smoothing 0.03 --mix $W/snli.all.jsonl:2 --mix $W/crossed.two.soft.jsonl:0.95 --mix $W/edits.jsonl:0.5 \
  --mix $W/worlds.jsonl:0.3 --mix $W/turned.jsonl:0.2 --mix $W/adversarial_train_15k.jsonl:0.15 \
  --mix $W/breaking_nli.jsonl:0.1 --mix $W/med.jsonl:0.35 --mix $W/prosecco.jsonl --mix $W/prosecco_mnli.jsonl:0.6

# The last stage, short: several clauses in a sentence, and dialogues as they went on.
python train.py --out $W/S3.pt --start $W/S2.pt $CUT --held $W/snli.calibrate.jsonl --seed 51 --rate 6e-5 \
  --smoothing 0.03 --dropout 0.15 --mix $W/snli.all.jsonl:0.75 --mix $W/crossed.two.soft.jsonl:0.1 \
  --mix $W/edits.jsonl:0.08 --mix $W/clauses.jsonl:0.5 --mix $W/dialogues.jsonl:0.4

python export.py --weights $W/S3.pt --work $W --held $W/snli.calibrate.jsonl \
  --out ../../src/doxa/backends/nli/minilm-l6-nli-int8
python measure.py --work $W
for name in snli sick anli.r1 anli.r2 anli.r3 nmonli_test pmonli fracas decode; do
  doxa bench nli --data $W/measure.$name.jsonl --json
done
