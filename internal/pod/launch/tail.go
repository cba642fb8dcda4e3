package launch

import (
	"bytes"
	"strings"
	"sync"
)

// tailBytes is how much of TRex's output is kept. Its words about a wrong argument come before 11 KiB of usage.
const tailBytes = 16 << 10

// tail keeps the end of what is written to it. Several may write.
type tail struct {
	mu     sync.Mutex
	buffer []byte
}

// Write never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buffer = append(t.buffer, b...)
	if surplus := len(t.buffer) - tailBytes; surplus > 0 {
		t.buffer = append(t.buffer[:0], t.buffer[surplus:]...)
	}
	return len(b), nil
}

// lines are the last lines, without empty ones and without control characters.
func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for line := range bytes.Lines(t.buffer) {
		text := strings.TrimSpace(strings.Map(printable, strings.ToValidUTF8(string(line), "")))
		if text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}

func printable(r rune) rune {
	if r < ' ' && r != '\t' || r == 0x7f {
		return -1
	}
	return r
}
