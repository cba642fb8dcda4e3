package render

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// member is one member of an object whose members have an order.
type member struct {
	key   string
	value any
}

// object is a JSON object in the order of its members: encoding/json would sort a map.
type object []member

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// decimal is a number that always has a decimal point. A reader that divides two numbers without one may divide whole numbers and
// throw away the rest: a loss of 5 % becomes none.
type decimal float64

// MarshalJSON writes 1000 as 1000.0.
func (d decimal) MarshalJSON() ([]byte, error) {
	s := strconv.FormatFloat(float64(d), 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return []byte(s), nil
}
