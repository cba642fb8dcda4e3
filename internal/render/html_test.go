package render

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// parsed is the page as a browser would read it.
func parsed(t *testing.T, reports ...*report.Report) *html.Node {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(rendered(t, "html", reports...)))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// find returns the elements of a name and, unless empty, of a class.
func find(n *html.Node, name, class string) []*html.Node {
	var out []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == name && (class == "" || strings.Contains(" "+attr(d, "class")+" ", " "+class+" ")) {
			out = append(out, d)
		}
	}
	return out
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

func TestThePageNeedsNothingElse(t *testing.T) {
	root := parsed(t, reporttest.Reports()...)
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if a.Key != "src" && a.Key != "href" && a.Key != "srcset" && a.Key != "action" && a.Key != "data" && a.Key != "poster" {
				continue
			}
			if !strings.HasPrefix(a.Val, "#") && a.Val != "data:," {
				t.Errorf("<%s %s=%q> asks for something outside of the page", n.Data, a.Key, a.Val)
			}
		}
	}
	page := string(rendered(t, "html", reporttest.Reports()...))
	for _, outside := range []string{"http://", "https://", "@import", "url(", "fetch(", "XMLHttpRequest", "ZgotmplZ"} {
		if strings.Contains(page, outside) {
			t.Errorf("the page holds %q", outside)
		}
	}
}

func TestThePageGivesTheReportsNumbers(t *testing.T) {
	for _, s := range reporttest.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			root := parsed(t, s.Report)
			compareDirections(t, s.Report, root)
			compareWindows(t, s.Report, root)
		})
	}
}

// A direction's own drawing says whether that direction is at a limit, whatever holds for all of them together.
func TestADirectionsDrawingHasItsOwnStanding(t *testing.T) {
	page := string(rendered(t, "html", reporttest.OtherDirection()))
	for _, says := range []string{"saturated: 149.87 kpps received of", "lower bound: ≥149.87 kpps received of", "lower bound: ≥299.75 kpps received of", "The result is ≥149.87 kpps.", "The result is 149.87 kpps."} {
		if !strings.Contains(page, says) {
			t.Errorf("the page doesn't say %q", says)
		}
	}
}

// compareDirections compares the result's table with the report: the exact figures are each cell's title.
func compareDirections(t *testing.T, r *report.Report, root *html.Node) {
	t.Helper()
	tables := find(root, "table", "directions")
	if !report.HasFigure(r) {
		if len(tables) != 0 {
			t.Error("a table of a result that was not measured")
		}
		return
	}
	rows := find(tables[0], "tr", "")[1:]
	for i, d := range r.Answer.Directions {
		cells := find(rows[i], "td", "")
		want := []string{exact(d.Intended.PacketsPerSecond, "packets per second"), exact(d.Offered.PacketsPerSecond, "packets per second"), exact(d.Received.PacketsPerSecond, "packets per second"),
			exact(d.Received.Layer1BitsPerSecond, "bits per second"), exact(d.Received.Layer2BitsPerSecond, "bits per second"), d.LossRatio.String(), d.LineRatePercent.String() + " %"}
		for k, w := range want {
			if got := attr(cells[k], "title"); got != w {
				t.Errorf("direction %d, column %d is %q, the report says %q", i, k, got, w)
			}
		}
		limit := r.Answer.Saturated || d.Limit != nil && d.Limit.Saturated
		if bound := strings.HasPrefix(textOf(cells[2]), "≥"); bound == limit {
			t.Errorf("received reads %q, and that it is a limit is %t", textOf(cells[2]), limit)
		}
	}
}

func compareWindows(t *testing.T, r *report.Report, root *html.Node) {
	t.Helper()
	tables := find(root, "table", "windows")
	if len(r.Windows) == 0 {
		if len(tables) != 0 {
			t.Error("a table of windows, and there are none")
		}
		return
	}
	rows := find(tables[0], "tr", "")[1:]
	for _, w := range r.Windows {
		for i, d := range w.Directions {
			cells := find(rows[0], "td", "")
			if i == 0 {
				if got := textOf(cells[0]); got != strconv.Itoa(w.Number) {
					t.Errorf("window %d is numbered %s", w.Number, got)
				}
				cells = cells[6:]
			}
			got := []string{textOf(cells[0]), textOf(cells[1]), textOf(cells[2]), textOf(cells[3]), textOf(cells[4]), textOf(cells[5])}
			want := []string{wording.Direction(d.From, d.To), strconv.FormatInt(d.Intended.PacketsPerSecond, 10), strconv.FormatInt(d.Offered.PacketsPerSecond, 10), strconv.FormatInt(d.Received.PacketsPerSecond, 10), wording.Loss(d.LossRatio), string(d.Quality)}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("window %d reads %q, the report says %q", w.Number, got, want)
			}
			rows = rows[1:]
		}
	}
	if len(rows) != 0 {
		t.Errorf("%d rows too many", len(rows))
	}
}

func TestThePageIsAccessible(t *testing.T) {
	root := parsed(t, reporttest.Reports()...)
	ids := map[string]bool{}
	for n := range root.Descendants() {
		if id := attr(n, "id"); id != "" {
			if ids[id] {
				t.Errorf("id %q is given twice", id)
			}
			ids[id] = true
		}
	}
	drawings := find(root, "svg", "drawing")
	if len(drawings) == 0 {
		t.Fatal("no drawing")
	}
	for _, d := range drawings {
		for id := range strings.FieldsSeq(attr(d, "aria-labelledby")) {
			if !ids[id] {
				t.Errorf("a drawing is labelled by %q, which is not there", id)
			}
		}
		if attr(d, "role") != "img" || attr(d, "aria-labelledby") == "" {
			t.Error("a drawing without role or label")
		}
	}
	for _, l := range find(root, "label", "") {
		if !ids[attr(l, "for")] {
			t.Errorf("the label %q is for nothing", textOf(l))
		}
	}
	if n := len(find(root, "h1", "")); n != 1 {
		t.Errorf("%d first headings", n)
	}
}

func TestEveryNumberInADrawingIsOne(t *testing.T) {
	page := string(rendered(t, "html", reporttest.Reports()...))
	for _, bad := range []string{"NaN", "Inf", "<nil>", "%!"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
}

func TestADrawingStaysSmallWhateverTheRunsLength(t *testing.T) {
	r := reporttest.Measured(reporttest.Limited(150_000), reporttest.Steps(3000))
	readings, stride := tracksOf(r)[0].readings(r)
	if len(r.Samples) <= maxPoints || len(readings) > maxPoints+1 {
		t.Errorf("%d samples are drawn as %d readings, at most %d are wanted", len(r.Samples), len(readings), maxPoints)
	}
	var took, packets float64
	for _, g := range readings {
		took += g.end - g.start
		packets += g.received * (g.end - g.start)
	}
	last := r.Samples[len(r.Samples)-1]
	want := float64(last.Directions[0].Returned.Packets + last.Directions[1].Returned.Packets)
	if stride < 2 || packets < want*0.999999 || packets > want*1.000001 {
		t.Errorf("%d samples a reading draw %f packets of %f", stride, packets, want)
	}
	if took != last.Time.Std().Seconds() {
		t.Errorf("the readings cover %f s of %s", took, last.Time.Std())
	}
}

func TestTheResultIsMarkedInEveryDrawing(t *testing.T) {
	for _, s := range reporttest.Scenarios() {
		root := parsed(t, s.Report)
		rings, curves := len(find(root, "path", "ring")), len(find(root, "figure", "curve"))
		want := 0
		if report.HasFigure(s.Report) {
			want = 2 * curves // a wide and a narrow drawing
		}
		if rings != want {
			t.Errorf("%s: %d rings, want %d", s.Name, rings, want)
		}
	}
}

func TestNamesAreTextOnThePage(t *testing.T) {
	r := reporttest.Measured()
	r.Plan.Test.Product = `</title><script>alert(1)</script>`
	r.Windows[0].Reason = `"><img src=x>`
	r.Notes[0].Message = `</script><b>`
	root := parsed(t, r)
	if n := len(find(root, "img", "")); n != 0 {
		t.Error("a window's reason became an image")
	}
	for _, s := range find(root, "script", "") {
		if strings.Contains(textOf(s), "alert(1)") {
			t.Error("a product's name became a script")
		}
	}
}

func TestACurveEndsWhereThereIsNothingMoreToSee(t *testing.T) {
	page := func(limit int64) string {
		return string(rendered(t, "html", reporttest.Measured(reporttest.Limited(limit), reporttest.Steps(20))))
	}
	if got := page(10_000); !strings.Contains(got, "windows at higher loads not drawn") {
		t.Error("loads thirty times the limit are drawn, or left out in silence")
	}
	if got := page(150_000); strings.Contains(got, "windows at higher loads not drawn") {
		t.Error("loads twice the limit are left out")
	}
}
