package stream_test

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// The first is RFC 1071's own example, in section 3.
func TestFold(t *testing.T) {
	for name, c := range map[string]struct {
		sum  uint64
		want uint16
	}{
		"the RFC's example":           {stream.SumWords([]byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}), 0xddf2},
		"an odd byte is a high one":   {stream.SumWords([]byte{0x00, 0x01, 0xf2}), 0xf201},
		"parts add up":                {stream.SumWords([]byte{0x00, 0x01, 0xf2, 0x03}) + stream.SumWords([]byte{0xf4, 0xf5, 0xf6, 0xf7}), 0xddf2},
		"nothing":                     {stream.SumWords(nil), 0},
		"a carry that makes another":  {0x1_ffff, 1},
		"with its checksum, all ones": {stream.SumWords([]byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7, 0x22, 0x0d}), 0xffff},
	} {
		if got := stream.FoldChecksum(c.sum); got != c.want {
			t.Errorf("%s: %#04x, want %#04x", name, got, c.want)
		}
	}
}
