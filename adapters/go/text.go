// Text as MSMQ has it: units of UTF-16. Go's own reader of JSON replaces half of a surrogate pair, which may be in a label.

package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Text is a text of JSON.
type Text []uint16

// UnmarshalJSON reads a text, whose form Go has already checked.
func (text *Text) UnmarshalJSON(data []byte) error {
	plain := map[byte]uint16{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}
	rest := string(data[1 : len(data)-1])
	*text = Text{}
	for rest != "" {
		before, escape, found := strings.Cut(rest, `\`)
		*text = append(*text, utf16.Encode([]rune(before))...)
		rest = ""
		if !found {
			continue
		}
		if escape[0] == 'u' {
			unit, _ := strconv.ParseUint(escape[1:5], 16, 16)
			*text, rest = append(*text, uint16(unit)), escape[5:]
			continue
		}
		unit, known := plain[escape[0]]
		if !known {
			unit = uint16(escape[0])
		}
		*text, rest = append(*text, unit), escape[1:]
	}
	return nil
}

// MarshalJSON writes a text in ASCII, so that any unit goes through.
func (text Text) MarshalJSON() ([]byte, error) {
	out := &strings.Builder{}
	for _, unit := range text {
		fmt.Fprintf(out, `\u%04x`, unit)
	}
	return []byte(`"` + out.String() + `"`), nil
}
