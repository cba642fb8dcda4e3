package kubectl

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// outlives keeps a Report of a test that isn't there any more, as the operator would, and returns its ConfigMap's name.
func (p *person) outlives(name string, day int, packetsPerSecond int64, own map[string]string) string {
	p.Helper()
	text, err := os.ReadFile("../../../internal/render/testdata/one-direction.json")
	p.must(err)
	reports, err := report.Read(bytes.NewReader(text))
	p.must(err)
	r := reports[0]
	r.Plan.Test.Name, r.Plan.Test.UID = name, name
	r.Started, r.Finished = r.Started.AddDate(0, 0, day), r.Finished.AddDate(0, 0, day)
	r.Answer.Total.Received.PacketsPerSecond = packetsPerSecond
	data, annotations, err := delivery.EncodeReport(r, true, 1)
	p.must(err)
	envelope, _ := delivery.ReadEnvelope(annotations)
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: p.namespace, UID: "gone", Labels: own}}
	kept := manifests.KeptConfigMap(test, manifests.KeptReport{Envelope: envelope, Packed: data[delivery.KeyReport], Method: r.Plan.Method(), Finished: r.Finished})
	p.must(admin.Create(p.Context(), kept))
	return kept.Name
}

func TestKeptReports(t *testing.T) {
	p := newPerson(t)
	release := func(of string) map[string]string {
		labels := map[string]string{"linerate.dev/suite": of}
		if of != "v14" { // whose suite is gone
			labels["linerate.dev/suite-uid"] = string(p.suite(of).UID)
		}
		return labels
	}
	p.createsSuite("v15")
	p.createsSuite("v16")
	p.outlives("nightly", 1, 153_090, release("v14"))
	newest := p.outlives("nightly", 2, 154_100, release("v14"))
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		p.outlives("was-"+name, i, 152_000+int64(i), release("v15"))
		p.outlives("is-"+name, i, 120_000+int64(i), release("v16"))
	}
	t.Run("the newest Report of a deleted test is printed, with its name", func(t *testing.T) {
		p.types("kubectl linerate report nightly").wants(t, 0, "OpenBSD 64b: 154 kpps", "LoadTest nightly is gone; this is its Report of 2026-03-16 15:")
		p.types("kubectl linerate report nightly").wants(t, 0, "OpenBSD 64b: 154 kpps", "kept as "+newest+" (and 1 older: kubectl linerate trend -l linerate.dev/test=nightly -n "+p.namespace+" shows all)")
		p.types("kubectl linerate report "+newest).wants(t, 0, "OpenBSD 64b: 154 kpps", "")
		p.types("kubectl linerate report vpp-64b").wants(t, 2, "", "no LoadTest or LoadTestSuite vpp-64b in namespace "+p.namespace)
	})
	t.Run("they are compared by their labels and by their names", func(t *testing.T) {
		p.types("kubectl linerate compare linerate.dev/suite=v15 linerate.dev/suite=v16").wants(t, 0, "-21.05%", "")
		p.types("kubectl linerate compare linerate.dev/suite=v15 linerate.dev/suite=v16 --max-regression 2%").wants(t, 1, "Failed", "")
		p.types("kubectl linerate compare suite/v15 v16").wants(t, 0, "-21.05%", "")
		for i, name := range []string{"f", "g", "h", "i", "j", "k"} { // of an earlier suite of the name
			p.outlives("was-"+name, i, 90_000+int64(i), map[string]string{"linerate.dev/suite": "v15", "linerate.dev/suite-uid": "gone"})
		}
		p.types("kubectl linerate compare suite/v15 v16").wants(t, 0, "-21.05%", "")
		p.types("kubectl linerate compare was-a is-a --max-regression 2%").wants(t, 3, "too few runs", "LoadTest was-a is gone")
		p.types("kubectl linerate compare was-a linerate.dev/suite=v99").wants(t, 2, "", "no Report in namespace "+p.namespace+" matches linerate.dev/suite=v99")
		p.types("kubectl linerate compare was-a nobody").wants(t, 2, "", "no LoadTest nobody")
		p.types("kubectl linerate compare was-a =").wants(t, 2, "", "is no label selector")
	})
	t.Run("they are shown over time", func(t *testing.T) {
		p.types("kubectl linerate trend").wants(t, 0, "OpenBSD 64b: latest", "")
		p.types("kubectl linerate trend -l linerate.dev/test=nightly -o json").wants(t, 0, `"last": 1`, "")
		p.types("kubectl linerate trend -o html").wants(t, 0, "<!DOCTYPE html>", "")
		p.types("kubectl linerate trend -l team=none").wants(t, 2, "", "matches team=none")
	})
	t.Run("a run that is kept, and whose test is there, counts once", func(t *testing.T) {
		p.creates("there")
		p.saysMeasured("there", func(r *report.Report) { r.Started = r.Started.Add(time.Hour) })
		p.says("there", func(st *v1alpha1.LoadTestStatus) { st.Report.KeptReport = newest })
		if r := p.types("kubectl linerate trend -o json"); r.code != 0 || strings.Contains(r.out, "there-report") {
			t.Errorf("exit %d:\n%.2000s", r.code, r.out)
		}
		p.says("there", func(st *v1alpha1.LoadTestStatus) { st.Report.KeptReport = "" })
		p.types("kubectl linerate trend -o json").wants(t, 0, "there-report", "")
	})
	t.Run("what a fault acted on isn't compared", func(t *testing.T) {
		p.creates("faulty")
		p.saysFault("faulty", v1alpha1.ReasonDUTFailed, "pod faulty-1-dut ended: out of memory")
		p.types("kubectl linerate compare was-a faulty").wants(t, 3, "not comparable", "")
		p.types("kubectl linerate compare was-a faulty").wants(t, 3, "this side was not measured", "")
	})
	t.Run("one that was made by hand is reported", func(t *testing.T) {
		p.must(admin.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "forged", Namespace: p.namespace,
			Labels: map[string]string{v1alpha1.LabelRole: v1alpha1.RoleKeptReport, v1alpha1.LabelTest: "forged"}}}))
		p.types("kubectl linerate report forged").wants(t, 3, "", "it was made by hand")
		p.types("kubectl linerate trend").wants(t, 3, "OpenBSD 64b: latest", "ConfigMap forged")
	})
}
