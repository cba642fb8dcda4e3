package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/answer"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// directionView is a row of the result's table.
type directionView struct {
	Name                                                 string
	Intended, Offered, Received, Layer1, Layer2, Percent figure
	Loss, LossExact                                      string
	Bar                                                  string
	Total                                                bool
}

// windowView is a window's row in one direction. First begins a new window, of Rows rows.
type windowView struct {
	Direction     report.Direction
	Window        report.Window
	First         bool
	Rows          int
	PhaseText     string
	LoadText, CPU string
	Class         string
	Loss          string
}

// facts are what a reader must know to compare a figure with another one.
func facts(r *report.Report) []fact {
	p := report.PlanOf(r)
	facts := []fact{{Term: "started", Text: r.Started.UTC().Format("2006-01-02 15:04:05") + " UTC, took " +
		wording.Span(max(0, r.Finished.Sub(r.Started)))}, {Term: "ended", Text: string(r.Ending)}}
	if p.DUT.Type != "" {
		facts = append(facts, fact{Term: "device under test", Text: p.DUT.Type + deviceWords(p.DUT)})
	}
	for _, s := range deviceTexts(r) {
		facts = append(facts, fact{Term: "device's image", Text: s})
	}
	if s := p.Sessions; s != nil {
		facts = append(facts, fact{Term: "traffic", Text: sessionsText(s)})
	}
	if p.Engine != "" && p.Sessions == nil {
		place := ""
		if p.GeneratorsRunAlready() {
			place = ", which ran already"
		}
		facts = append(facts, fact{Term: "generator", Text: wording.Counted(max(len(r.Generators), len(p.Generators)),
			"replica") + " of " + p.Engine + place})
	}
	if frames := framesText(r); frames != "" {
		facts = append(facts, fact{Term: "traffic", Text: frames})
	}
	if sentence := answer.Procedure(p); sentence != "" {
		facts = append(facts, fact{Term: "procedure", Text: sentence})
	}
	for _, l := range r.LineRates {
		facts = append(facts, fact{Term: "line rate of " + l.Link, Text: wording.BitRate(int64(l.BitsPerSecond)) +
			" at layer 1, as the " + cmp.Or(l.Source, "plan") + " says"})
	}
	return append(facts, environmentFacts(r)...)
}

// framesText says how large the frames are, since a rate without a size means nothing. It says so once, where all
// directions have the same.
func framesText(r *report.Report) string {
	var names, sizes []string
	for _, d := range report.PlanOf(r).Directions {
		if d.Mix.Packets <= 0 {
			continue
		}
		names = append(names, wording.Direction(d.From, d.To))
		sizes = append(sizes, "frames of "+short(r1(float64(d.Mix.Bytes)/float64(d.Mix.Packets)))+
			" bytes on average, FCS included")
	}
	if len(slices.Compact(slices.Clone(sizes))) == 1 {
		return strings.Join(names, ", ") + ": " + sizes[0]
	}
	for i := range sizes {
		sizes[i] = names[i] + ": " + sizes[i]
	}
	return strings.Join(sizes, "; ")
}

func directionViews(r *report.Report, h report.Headline) []directionView {
	row := func(h report.Headline, name string, intended, offered, received report.Flow, loss, low, high units.Ratio,
		percent units.Percent) directionView {
		flat := report.Headline{Measured: true} // what was intended and offered is known, also under a lower bound
		return directionView{Name: name, Loss: lossText(r, loss, low, high), LossExact: loss.String(),
			Bar: barWidth(percent), Percent: percentFigure(h, percent),
			Intended: split(flat, wording.PacketRate(intended.PacketsPerSecond), exact(intended.PacketsPerSecond,
				"packets per second")),
			Offered: split(flat, wording.PacketRate(offered.PacketsPerSecond), exact(offered.PacketsPerSecond,
				"packets per second")),
			Received: split(h, wording.PacketRate(received.PacketsPerSecond), exact(received.PacketsPerSecond,
				"packets per second")),
			Layer1: split(h, wording.BitRate(received.Layer1BitsPerSecond), exact(received.Layer1BitsPerSecond,
				"bits per second")),
			Layer2: split(h, wording.BitRate(received.Layer2BitsPerSecond), exact(received.Layer2BitsPerSecond,
				"bits per second"))}
	}
	var views []directionView
	for _, d := range r.Answer.Directions {
		views = append(views, row(figures.HeadlineIn(h, r, d), wording.Direction(d.From, d.To), d.Intended, d.Offered,
			d.Received, d.LossRatio, d.LossRatioMin, figures.MostLost(r, d), d.LineRatePercent))
	}
	if len(views) > 1 {
		t := r.Answer.Total
		total := row(h, allName(r), t.Intended, t.Offered, t.Received, t.LossRatio, t.LossRatioMin,
			figures.MostLostTogether(r), t.LineRatePercent)
		total.Total = true
		views = append(views, total)
	}
	return views
}

func windowViews(r *report.Report) []windowView {
	var views []windowView
	for _, w := range r.Windows {
		cpu := wording.NotMeasured
		if w.GeneratorCPUPercent >= 0 {
			cpu = short(r1(w.GeneratorCPUPercent)) + "%"
		}
		for i, d := range w.Directions {
			phase := phaseText(w.Phase)
			if d.Burst != nil {
				phase += " of " + wording.Count(d.Burst.Frames)
			}
			views = append(views, windowView{Direction: d, Window: w, First: i == 0, Rows: len(w.Directions),
				PhaseText: phase,
				LoadText:  short(w.Load.Float()*100) + "%", CPU: cpu,
				Class: qualityClass(d.Quality), Loss: wording.Loss(d.LossRatio)})
		}
	}
	return views
}
