package bounded

import (
	"strings"
	"sync"
)

// Words keeps the end of what a program says, for the message when it fails. It is safe for concurrent use.
type Words struct {
	mu   sync.Mutex
	text []byte
}

const keptWords = 16 << 10

// Write never fails, and forgets the oldest bytes.
func (w *Words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	if excess := len(w.text) - keptWords; excess > 0 {
		w.text = w.text[:copy(w.text, w.text[excess:])]
	}
	return len(p), nil
}

// String is the line with the cause, which is a crash's first line, or else the last line that isn't empty.
func (w *Words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lastLine := ""
	for line := range strings.Lines(string(w.text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
		if line != "" {
			lastLine = line
		}
	}
	return lastLine
}
