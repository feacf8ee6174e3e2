"""`doxa check-file`: what it says of a file, and the codes that it ends with."""


def test_damage_is_told_and_mended(ana):
    whole = ana("check-file", ana.db)
    assert whole.exit_code == 0 and "is as it was written: 4 turns of 1 user" in whole.stdout
    data = ana.db.read_bytes()
    at = data.index(b"Bonn")
    ana.db.write_bytes(data[:at] + b"Bern" + data[at + 4 :])
    told = ana("check-file", ana.db)
    assert told.exit_code == 3, told.output
    assert "is damaged" in told.stdout and "1 row of events not as written" in told.stdout and "--mend" in told.stdout
    assert "check-file" in ana("facts").stderr
    mended = ana.json("check-file", ana.db, "--mend", code=3)
    assert mended["kept"] and not mended["sound"]
    assert ana("check-file", ana.db).exit_code == 0 and ana("facts").exit_code == 0


def test_what_is_no_file_is_an_error(cli):
    done = cli("check-file", "nowhere.db")
    assert done.exit_code == 1 and "There is no memory" in done.stderr
