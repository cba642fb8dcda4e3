package render

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// placed is a saturated router whose frames all came by one queue.
func placed() *report.Report {
	r := reporttest.Scenarios()[0].Report
	second := plan.Duration(time.Second)
	r.Placement = &report.Placement{Window: 4, Over: second, Judged: second, Processors: []report.PlacedProcessor{
		{Frames: 920_000, Busy: second, SoftIRQ: second}, {Number: 1, Frames: 80_000, Idle: second}},
		Links: []report.PlacedLink{{Link: "west", Interface: "eth0", Received: 1_000_000, Queues: []report.PlacedQueue{
			{Frames: new(int64(920_000)), Polling: report.ByInterrupt, Processor: new(0), RPS: "0-1"}}}}}
	r.Findings = []report.Finding{{Kind: report.FullProcessors, Severity: report.FindingWarning,
		Sentence: "92 % of frames were received on processor 0 (queue 0 of west), which was full; 1 was idle: 254 flows hash to one queue",
		WayOut:   "ethtool -N eth0 rx-flow-hash udp4 sdfn"},
		{Kind: report.FramesMerged, Severity: report.FindingNote, Sentence: "receive offload merged frames", WayOut: "<b>gro</b> off"}}
	return r
}

func TestFindingsStandBelowTheResult(t *testing.T) {
	for _, format := range []string{"text", "markdown", "html", "json"} {
		got := strings.Join(strings.Fields(string(rendered(t, format, placed()))), " ")
		answer := strings.Index(got, "bove it")
		found := strings.Index(got, "92 % of frames were received on processor 0 (queue 0 of west), which was full; 1 was idle: 254 flows hash to one queue")
		if found < 0 || format != "json" && (answer < 0 || found < answer) {
			t.Errorf("%s: the answer at %d, the finding at %d", format, answer, found)
		}
		if format != "json" && format != "text" && strings.Contains(got, "<b>gro</b>") {
			t.Errorf("%s passes markup on", format)
		}
	}
	t.Run("queues and processors are evidence", func(t *testing.T) {
		const queue, processor = "queue 0, 920,000 frames, by its interrupt on processor 0, handed on to 0-1 (rps_cpus)", "92.0 %"
		if got := string(rendered(t, "text", placed())); strings.Contains(got, queue) {
			t.Errorf("everybody reads them:\n%s", got)
		}
		for format, got := range map[string]string{"text": string(renderedWithEvidence(t, "text", placed())),
			"markdown": string(rendered(t, "markdown", placed())), "html": string(rendered(t, "html", placed()))} {
			got = strings.Join(strings.Fields(strings.ReplaceAll(got, `\`, "")), " ")
			if !strings.Contains(got, queue) || !strings.Contains(got, processor) {
				t.Errorf("%s lacks them:\n%s", format, got)
			}
		}
	})
}
