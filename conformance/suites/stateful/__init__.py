"""What the suites about histories share: abstract calls, how they are driven, told, judged and run again."""
