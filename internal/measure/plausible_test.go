package measure_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/units"
)

func TestBytesAreHeldAgainstTheFramesThatWereSent(t *testing.T) {
	imix, fixed := measure.Sizes{Shortest: 64, Longest: 1518}, measure.Sizes{Shortest: 512, Longest: 512}
	frames := func(n, size int64) units.Traffic { return units.Traffic{Packets: n, Bytes: n * size} }
	for name, tt := range map[string]struct {
		sizes          measure.Sizes
		reshapes       bool
		sent, returned units.Traffic
		resized        int64
		miscounted     int64
		quality        report.Quality
		says           string
	}{
		"as they were sent":                                         {sizes: fixed, sent: frames(15000, 512), returned: frames(15000, 512), quality: report.Good},
		"nobody knows the profile's":                                {sent: frames(15000, 512), returned: frames(15000, 90), quality: report.Good},
		"a few strangers among them":                                {sizes: fixed, sent: frames(15000, 512), returned: frames(14998, 512).Add(frames(2, 1518)), quality: report.Good},
		"few jumbo frames, and an answer to ARP among them":         {sizes: measure.Sizes{Shortest: 9018, Longest: 9018}, sent: frames(99, 9018).Add(frames(1, 64)), returned: frames(99, 9018).Add(frames(1, 64)), quality: report.Short},
		"a driver that leaves out the FCS is told":                  {sizes: fixed, sent: frames(15000, 512), returned: frames(15000, 508), resized: -60000 + 4*1518, quality: report.Good},
		"a VLAN tag that stayed is told":                            {sizes: fixed, sent: frames(15000, 512), returned: frames(15000, 516), resized: 60000 - 4*1518, quality: report.Good},
		"cut short":                                                 {sizes: fixed, sent: frames(15000, 512), returned: frames(15000, 96), resized: -15000*416 + 4*1518, quality: report.Invalid, says: "west→east: frames came back with 96.0 bytes on average where 512.0 bytes were sent: they were cut short"},
		"merged by somebody":                                        {sizes: fixed, sent: frames(15000, 512), returned: frames(14000, 547), resized: 14000*547 - (15000*512 - 1000*512) - 4*1518, quality: report.Invalid, says: "547.0 bytes on average where 512.0 bytes"},
		"wrapped into others, as the device is there to do":         {sizes: fixed, reshapes: true, sent: frames(15000, 512), returned: frames(15000, 562), resized: 15000*50 - 4*1518, quality: report.Good},
		"of a mix, the large ones lost":                             {sizes: imix, sent: frames(7500, 64).Add(frames(7500, 1518)), returned: frames(7500, 64), quality: report.Lossy, says: "7500 of 15000"},
		"of a mix, the small ones lost":                             {sizes: imix, sent: frames(7500, 64).Add(frames(7500, 1518)), returned: frames(7500, 1518), quality: report.Lossy, says: "7500 of 15000"},
		"of a mix, all came back smaller than any loss leaves them": {sizes: imix, sent: frames(7500, 64).Add(frames(7500, 1518)), returned: frames(15000, 96), resized: 15000*96 - 7500*(64+1518) + 4*1518 + 100*1454, quality: report.Invalid, says: "cut short"},
		"a port that counts without FCS is told":                    {sizes: fixed, sent: frames(15000, 508), returned: frames(15000, 508), miscounted: -60000 + 2*1518, quality: report.Good},
		"a port that counts nonsense":                               {sizes: fixed, sent: frames(15000, 64), returned: frames(15000, 64), miscounted: -15000*448 + 2*1518, quality: report.Invalid, says: "counted 64.0 bytes a frame, and the profile's frames have 512 bytes"},
		"a port that counts others' frames":                         {sizes: fixed, sent: frames(15000, 1024), returned: frames(15000, 512), resized: -15000*512 + 4*1518, miscounted: 15000*512 - 2*1518, quality: report.Invalid, says: "counted 1024.0 bytes a frame, and the profile's frames have 512 bytes"},
		"nothing came back":                                         {sizes: fixed, sent: frames(15000, 512), quality: report.Lossy, says: "100 % lost"},
	} {
		t.Run(name, func(t *testing.T) {
			setup, span := counted{}.prepare()
			setup.Directions[0].Sizes, setup.Directions[0].Reshapes = tt.sizes, tt.reshapes
			last := span.Readings[0][2]
			for port, more := range map[int]units.Traffic{0: tt.sent, 1: tt.returned} {
				p := last.Ports[port]
				p.Sent, p.Received = p.Sent.Add(more), p.Received.Add(more)
				last.Ports[port] = p
			}
			w := judged(setup, span)
			if d := w.Directions[0]; d.ResizedBytes != tt.resized || d.MiscountedBytes != tt.miscounted || d.Quality != tt.quality || !strings.Contains(d.Reason, tt.says) {
				t.Errorf("%d bytes too long, %d miscounted, %s: %s\nwant %d, %d, %s: …%s…", d.ResizedBytes, d.MiscountedBytes, d.Quality, d.Reason, tt.resized, tt.miscounted, tt.quality, tt.says)
			}
		})
	}
}
