package plan

import (
	"fmt"
	"time"
)

// Duration is a time span that reads in JSON as people write it, such as "500ms" or "10m0s".
type Duration time.Duration

// MarshalText writes the span as time.Duration prints it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("duration %q: %w", text, err)
	}
	*d = Duration(v)
	return nil
}

// Std is the span as the standard library's type.
func (d Duration) Std() time.Duration { return time.Duration(d) }
