package cli

import "io"

// firstOnly writes each note once: in a suite every test would repeat the same notes about the machine.
type firstOnly struct {
	out  io.Writer
	said map[string]bool
}

// Write drops a line that begins with "note: " and was written before.
func (o *firstOnly) Write(p []byte) (int, error) {
	const note = "note: "
	if len(p) > len(note) && string(p[:len(note)]) == note {
		if o.said[string(p)] {
			return len(p), nil
		}
		if o.said == nil {
			o.said = map[string]bool{}
		}
		o.said[string(p)] = true
	}
	return o.out.Write(p)
}
