package findings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// mostOnFull is the part of the frames that full processors must have received together. With less, enough of the
// load went to processors that had time left, and these don't explain the loss.
const mostOnFull = 0.8

// fullProcessors is that the frames were received on processors that were full, and why on no others.
func fullProcessors(s *scene) *report.Finding {
	if !s.overloaded() {
		return nil
	}
	var full, idle []int
	share, foreign := 0.0, false
	for _, p := range s.Processors {
		switch {
		case s.full(p) && s.receives(p):
			full, share = append(full, p.Number), share+s.share(p)
			foreign = foreign || float64(p.Others) > float64(s.Over)/2
		case s.idle(p):
			idle = append(idle, p.Number)
		}
	}
	if len(full) == 0 || share < mostOnFull || foreign { // busyNeighbour says the last
		return nil
	}
	link := s.busiestLink(full)
	where := ""
	if link != nil {
		where = " (" + queuesOn(*link, full) + ")"
	}
	f := &report.Finding{Kind: report.FullProcessors, Severity: report.FindingNote,
		Sentence: fmt.Sprintf("%.0f %% of frames were received on %s%s, which %s full", 100*share, processors(full),
			where, wording.Verb(len(full), "was", "were")), Evidence: s.evidence()}
	if len(idle) == 0 {
		f.Sentence += "; no other processor was idle"
		f.WayOut = "give the device processors that the generator doesn't use, or take it for this machine's figure"
		return f
	}
	f.Severity = report.FindingWarning
	f.Sentence += fmt.Sprintf("; %d %s idle", len(idle), wording.Verb(len(idle), "was", "were"))
	c := s.causeOf(link, full, idle)
	if c.kind != "" {
		f.Kind = c.kind
	}
	f.Sentence, f.WayOut = f.Sentence+": "+c.words, c.wayOut
	return f
}

// cause is why frames went to no other processors.
type cause struct {
	kind          report.FindingKind
	words, wayOut string
}

// causeOf is why the frames of a link were received on the full processors alone.
func (s *scene) causeOf(l *report.PlacedLink, full, idle []int) cause {
	if l == nil {
		return cause{words: "which queue they came by is unknown", wayOut: "spread the device's queues over processors"}
	}
	flows := s.flowsFrom(l.Link)
	rpsMask := fmt.Sprintf("echo %s > /sys/class/net/%s/queues/rx-0/rps_cpus", mask(append(slices.Clone(full),
		idle...)),
		l.Interface)
	q := busiestQueue(*l, full)
	switch {
	case flows == 1 && (len(l.Queues) > 1 || strings.ContainsAny(q.RPS, "-,")):
		return cause{report.SingleFlow, "the test has a single flow, which stays on one queue",
			"set traffic.flows.count to many, such as 254"}
	case q.RPS != "" && !strings.ContainsAny(q.RPS, "-,"):
		return cause{words: fmt.Sprintf("rps_cpus of queue %d names %s alone", q.Number, "processor "+q.RPS),
			wayOut: rpsMask}
	case q.RPS != "":
		return cause{words: fmt.Sprintf("%s hash to few of rps_cpus' processors %s", flowsText(flows), q.RPS),
			wayOut: "use more flows (traffic.flows.count), or flows that differ in ports"}
	case len(l.Queues) <= 1 && l.MostQueues > 1:
		return cause{words: l.Interface + " has one receive queue in use, and its rps_cpus is 0",
			wayOut: fmt.Sprintf("ethtool -L %s combined %d, or %s", l.Interface, l.MostQueues, rpsMask)}
	case len(l.Queues) <= 1:
		return cause{words: l.Interface + " has one receive queue, and its rps_cpus is 0", wayOut: rpsMask}
	case q.Frames != nil && float64(*q.Frames) >= mostOnFull*float64(sumOfQueues(*l)):
		return cause{words: flowsText(flows) + " hash to one queue",
			wayOut: fmt.Sprintf("use flows that differ in more fields, or hash by ports: "+
				"ethtool -N %s rx-flow-hash udp4 sdfn",
				l.Interface)}
	case q.Polling == report.ByInterrupt:
		return cause{words: fmt.Sprintf("the interrupts of %s's %d queues go there", l.Interface, len(l.Queues)),
			wayOut: "spread them: /proc/irq/N/smp_affinity_list, and stop irqbalance"}
	case q.Polling == report.ByThread:
		return cause{words: fmt.Sprintf("the NAPI threads of %s's %d queues run there", l.Interface, len(l.Queues)),
			wayOut: "bind each thread napi/" + l.Interface + "-* to a processor of its own (taskset -p)"}
	case q.Polling == report.BySender:
		return cause{words: "the virtual cable has no interrupts, so the processor that sends receives, and " +
			"rps_cpus is 0",
			wayOut: rpsMask}
	}
	return cause{words: "rps_cpus is 0", wayOut: rpsMask}
}

// evidence is what each processor received and did, and how queues lead to them.
func (s *scene) evidence() (lines []string) {
	for _, p := range s.Processors {
		lines = append(lines, fmt.Sprintf("processor %d: %.1f %% of frames, busy %s, softirq %s, idle %s of %s",
			p.Number,
			100*s.share(p), wording.Span(p.Busy.Std()), wording.Span(p.SoftIRQ.Std()), wording.Span(p.Idle.Std()),
			wording.Span(s.Over.Std())))
		if len(lines) == mostEvidence {
			return lines
		}
	}
	for _, l := range s.Links {
		for _, q := range l.Queues {
			if len(lines) < mostEvidence {
				lines = append(lines, l.Link+": "+QueueText(q))
			}
		}
	}
	return lines
}

// mostEvidence bounds a finding's evidence, as the Report has all of it in its placement.
const mostEvidence = 12

// QueueText says where a queue's frames are received, such as "queue 0, 512 frames, by a thread on processor 1".
func QueueText(q report.PlacedQueue) string {
	words := []string{"queue " + strconv.Itoa(q.Number)}
	if q.Frames != nil {
		words = append(words, wording.Count(*q.Frames)+" frames")
	}
	where := ""
	if q.Processor != nil {
		where = " on processor " + strconv.Itoa(*q.Processor)
	} else if q.Allowed != "" {
		where = " on one of processors " + q.Allowed
	}
	switch q.Polling {
	case report.ByInterrupt:
		words = append(words, "by its interrupt"+where)
	case report.ByThread:
		words = append(words, "by a thread"+where)
	case report.BySender:
		words = append(words, "on the processor that sends")
	case report.ByUnknown:
	}
	if q.RPS != "" {
		words = append(words, "handed on to "+q.RPS+" (rps_cpus)")
	}
	return strings.Join(words, ", ")
}

// busiestQueue is the queue that received most of those that lead to these processors, the first where nobody knows.
func busiestQueue(l report.PlacedLink, to []int) (busiest report.PlacedQueue) {
	found := false
	for _, q := range l.Queues {
		if !leadsTo(q, to) {
			continue
		}
		if !found || q.Frames != nil && busiest.Frames != nil && *q.Frames > *busiest.Frames {
			busiest, found = q, true
		}
	}
	return busiest
}

func sumOfQueues(l report.PlacedLink) (sum int64) {
	for _, q := range l.Queues {
		if q.Frames != nil {
			sum += *q.Frames
		}
	}
	return sum
}

// queuesOn names the queues of a link that lead to these processors and received a part that matters.
func queuesOn(l report.PlacedLink, to []int) string {
	var numbers []string
	total := sumOfQueues(l)
	for _, q := range l.Queues {
		if leadsTo(q, to) && (q.Frames == nil || *q.Frames*10 >= total) {
			numbers = append(numbers, strconv.Itoa(q.Number))
		}
	}
	switch len(numbers) {
	case 0:
		return l.Link
	case 1:
		return "queue " + numbers[0] + " of " + l.Link
	case len(l.Queues):
		return fmt.Sprintf("all %d queues of %s", len(numbers), l.Link)
	}
	return fmt.Sprintf("queues %s of %s", strings.Join(numbers, ", "), l.Link)
}

// processors names processors, such as "processor 0" or "processors 0 and 2".
func processors(numbers []int) string {
	var texts []string
	for _, n := range numbers {
		texts = append(texts, strconv.Itoa(n))
	}
	if len(texts) == 1 {
		return "processor " + texts[0]
	}
	last := len(texts) - 1
	return "processors " + strings.Join(texts[:last], ", ") + " and " + texts[last]
}

// mask is the hexadecimal mask of processors, as rps_cpus takes it: words of 32 bits, the highest first.
func mask(numbers []int) string {
	words := make([]uint32, slices.Max(numbers)/32+1)
	for _, n := range numbers {
		words[len(words)-1-n/32] |= 1 << (n % 32)
	}
	texts := []string{strconv.FormatUint(uint64(words[0]), 16)}
	for _, w := range words[1:] {
		texts = append(texts, fmt.Sprintf("%08x", w))
	}
	return strings.Join(texts, ",")
}

// contains says whether a list such as "0-2,7" has a number.
func contains(list string, number int) bool {
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(low)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(high)
		}
		if err == nil && first <= number && number <= last {
			return true
		}
	}
	return false
}

func flowsText(flows int64) string {
	if flows == 0 {
		return "all flows"
	}
	return wording.Count(flows) + " flows"
}

// flowsFrom is how many flows the test sends to the device by a link, 0 where nobody knows. Each stream has as many as
// the variable with the most values, and streams of different addresses or ports are different flows.
func (s *scene) flowsFrom(link string) int64 {
	if sessions := s.report.Plan.Sessions; sessions != nil {
		return int64(sessions.Parallel)
	}
	flows := int64(0)
	for _, g := range s.report.Plan.Generators {
		for _, port := range g.Ports {
			if port.Link != link {
				continue
			}
			templates := map[string]int64{}
			for _, stream := range port.Streams {
				values := int64(1)
				for _, i := range stream.VM.Instructions {
					values = max(values, valuesOf(i))
				}
				header := headerOf(stream.Packet.Binary)
				templates[header] = max(templates[header], values)
			}
			for _, values := range templates {
				flows += values
			}
		}
	}
	return flows
}
