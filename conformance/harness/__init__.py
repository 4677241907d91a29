"""Run and record tests of any kind: run session, recorder, guarded client, tape, playback, pytest hooks."""
