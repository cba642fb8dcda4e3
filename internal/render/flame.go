package render

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/profile"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// A flame graph has a box for each function where its caller called it, below the caller's, as wide as its share of
// the samples. Boxes that are narrower than a pixel are left out.
const (
	flameRow      = 17.0
	flameNarrow   = 1.0
	flameLetter   = 6.2 // of a label's width
	mostFlameRows = 60
)

// flames draws the profile's flame graph, at two widths. There are none where nothing was sampled.
func flames(r *report.Report, id string) (drawings []drawing) {
	if r.Profile == nil {
		return nil
	}
	stacks := profile.Parse(r.Profile.Stacks)
	root := profile.Tree(stacks)
	if root.Total == 0 {
		return nil
	}
	for _, narrow := range []bool{false, true} {
		d := drawing{Class: "wide", Width: 1040, Title: "Flame graph of the device", Desc: fmt.Sprintf("%s samples of "+
			"the device. A function is below its caller, as wide as its share of the samples.", wording.Count(root.Total))}
		if narrow {
			d.Class, d.Width = "narrow", 430
		}
		d.ID = id + "fl-" + d.Class
		d.flame(root, 0, d.Width, 0, root.Total)
		for _, b := range d.Bands {
			d.Height = max(d.Height, b.Bottom())
		}
		drawings = append(drawings, d)
	}
	return drawings
}

// flame draws what a function calls, the widest first, from a place on at a depth.
func (d *drawing) flame(n *profile.Node, left, width float64, depth int, whole int64) {
	if depth == mostFlameRows {
		return
	}
	children := slices.Clone(n.Children)
	slices.SortStableFunc(children, func(a, b *profile.Node) int { return int(b.Total - a.Total) })
	for _, child := range children {
		share := width * float64(child.Total) / float64(max(1, n.Total))
		if share < flameNarrow {
			return
		}
		y := float64(depth) * flameRow
		d.band("flame f"+strconv.Itoa(depth%3), left, y, share-0.5, flameRow-1, fmt.Sprintf("%s: %.1f %%, itself %.1f %%",
			child.Name, percentOf(child.Total, whole), percentOf(child.Self, whole)))
		if room := int(math.Floor((share - 6) / flameLetter)); room >= 3 {
			d.label("flame", left+3, y+12, fitting(child.Name, room))
		}
		d.flame(child, left, share, depth+1, whole)
		left += share
	}
}

func percentOf(part, whole int64) float64 { return 100 * float64(part) / float64(max(1, whole)) }

// fitting is a name in so many characters.
func fitting(name string, most int) string {
	if utf8.RuneCountInString(name) <= most {
		return name
	}
	return string([]rune(name)[:most-1]) + "…"
}
