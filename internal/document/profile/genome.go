package profile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/units"
)

// genomeSizes are the sizes that RFC 6985 has letters for, from a on, up to the largest frame here.
var genomeSizes = []units.FrameSize{64, 128, 256, 512, 1024, 1280, 1518, 2112, 9000}

// ReadGenome is the mix of a genome of RFC 6985, which has a letter for each frame: aaaafg is four frames of 64
// bytes, one of 1280 and one of 1518. Letters that have no size are left out.
func ReadGenome(genome string) (mix []MixEntry) {
	for i, size := range genomeSizes {
		if n := strings.Count(genome, string(rune('a'+i))); n > 0 {
			mix = append(mix, MixEntry{Size: size, Weight: int64(n)})
		}
	}
	return mix
}

// WriteGenome is a mix in RFC 6985's letters, with the size of each letter that the RFC leaves to the tester (from A
// on). It is empty where the mix takes more than limit letters.
func WriteGenome(mix []MixEntry, limit int64) (genome string, sizes []string) {
	var b strings.Builder
	var total int64
	for _, entry := range mix {
		if total += entry.Weight; total > limit {
			return "", nil
		}
		letter := string(rune('A' + len(sizes)))
		if i := slices.Index(genomeSizes, entry.Size); i >= 0 {
			letter = string(rune('a' + i))
		} else {
			sizes = append(sizes, fmt.Sprintf("%s: %d", letter, entry.Size))
		}
		b.WriteString(strings.Repeat(letter, int(entry.Weight)))
	}
	return b.String(), sizes
}
