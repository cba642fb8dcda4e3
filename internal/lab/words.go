package lab

import (
	"strings"
	"sync"
)

// lastWords keeps the end of what the child says on standard error, for the message when it dies. It is safe for concurrent use.
type lastWords struct {
	mu   sync.Mutex
	text []byte
}

const keptWords = 16 << 10

// Write never fails; it forgets the oldest.
func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	if over := len(w.text) - keptWords; over > 0 {
		w.text = w.text[:copy(w.text, w.text[over:])]
	}
	return len(p), nil
}

// String is the line that says most: a crash's first, else the last that isn't empty.
func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := ""
	for line := range strings.Lines(string(w.text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
		if line != "" {
			last = line
		}
	}
	return last
}
