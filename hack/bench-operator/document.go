package main

import (
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// aReport is as large as a run of a minute makes it: windows of a ramp, and a sample for each second.
func aReport(p *plan.Plan, started time.Time) *report.Report {
	const steps, samples, maxBytes = 20, 60, 654_400
	r := &report.Report{
		Version: report.Version, Producer: "linerate bench", Plan: p, Started: started.UTC(),
		Finished: time.Now().UTC(), Ending: report.Completed,
		Verdict: report.Verdict{Outcome: report.Undecided},
	}
	for i := range samples {
		sample := report.Sample{Time: plan.Duration(time.Duration(i) * time.Second), Phase: report.Ramping,
			CPUPercent: 40}
		for range p.Directions {
			sample.Directions = append(sample.Directions, report.SampleDirection{
				IntendedPacketsPerSecond: int64(maxBytes / samples * i), Sent: traffic(maxBytes / samples * i * i),
				Returned: traffic(maxBytes / samples * i * i),
			})
		}
		r.Samples = append(r.Samples, sample)
	}
	for i := range steps {
		r.Windows = append(r.Windows, window(p, i+1, int64(maxBytes/steps*(i+1))))
	}
	final := r.Windows[steps-1]
	sum := &report.Sum{Intended: flow(2 * maxBytes), Offered: flow(2 * maxBytes), Received: flow(2 * maxBytes),
		Window: final.Number}
	r.Answer = report.Answer{Measured: true, Reason: report.LossAboveLimit, Message: "above 654 400 packets/s frames are lost", Window: final.Number, Directions: final.Directions, Total: sum, MaxReceived: sum, Claim: report.Claim{Saturated: true, Confirmed: true}}
	return r
}

func window(p *plan.Plan, number int, rate int64) report.Window {
	w := report.Window{
		Number: number, Phase: report.Ramping, Start: plan.Duration(time.Duration(3*number) * time.Second),
		Duration: plan.Duration(2 * time.Second),
		Quality:  report.Good, Reason: "no loss beyond what is allowed",
	}
	for _, d := range p.Directions {
		w.Directions = append(w.Directions, report.Direction{
			From: d.From, To: d.To, Intended: flow(rate), Offered: flow(rate - int64(number)),
			Received: flow(rate - int64(number)),
			Sent:     traffic(int(2 * rate)), Returned: traffic(int(2*rate) - number), Quality: report.Good,
			Reason: "no loss beyond what is allowed",
		})
	}
	return w
}

func flow(rate int64) report.Flow {
	return report.Flow{PacketsPerSecond: rate, Layer1BitsPerSecond: rate * 672, Layer2BitsPerSecond: rate * 512}
}

func traffic(packets int) units.Traffic {
	return units.Traffic{Packets: int64(packets), Bytes: int64(packets) * 64}
}
