package cli

import "io"

// onceOnly drops notes that were written before: what is said of a machine is said of each test that runs there.
type onceOnly struct {
	out  io.Writer
	said map[string]bool
}

// Write writes what is new: notes are told apart by their first word.
func (o *onceOnly) Write(p []byte) (int, error) {
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
