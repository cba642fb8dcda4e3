package compatibility

import (
	"reflect"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

func TestOldPlansAreReadAndMeasureByTheSameMethod(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(string(read(t, "plans/methods.txt"))), "\n")
	if names := named(t, "plans", ".json.gz"); len(names) != len(lines) {
		t.Errorf("there are %d Plans, and the methods of %d", len(names), len(lines))
	}
	for _, line := range lines {
		method, name, _ := strings.Cut(line, " ")
		t.Run(name, func(t *testing.T) {
			was := read(t, "plans/"+name+".json.gz")
			p, sites, err := delivery.DecodePlan(map[string][]byte{delivery.KeyPlan: was, delivery.KeySites: read(t, "configmaps/sites.json")})
			if err != nil {
				t.Fatal(err)
			}
			if p.Method() != method || p.Version != plan.Version || plan.VersionFor(p.Procedure, p.Sessions) != plan.Version || len(sites.Generators) != 1 {
				t.Errorf("it is of version %q and of method %s, which was %s; sites %+v", p.Version, p.Method(), method, sites)
			}
			again, err := delivery.EncodePlan(p, sites)
			if err != nil {
				t.Fatal(err)
			}
			if now := string(unpacked(t, again[delivery.KeyPlan])); now != string(unpacked(t, was)) {
				t.Errorf("a runner of the old release would be given\n%s\nin place of\n%s", now, unpacked(t, was))
			}
		})
	}
}

func TestAReportThatAnOldRunnerPackedIsRead(t *testing.T) {
	c := configMap(t, "report")
	r, envelope, err := delivery.DecodeReport(c.BinaryData, c.Annotations)
	if err != nil {
		t.Fatal(err)
	}
	want := reports(t, "slower-than-its-baseline")[0]
	if r.Version != report.Version || !envelope.Final || envelope.Attempt != 1 || envelope.Digest != c.Annotations[delivery.AnnotationDigest] || !reflect.DeepEqual(r, want) {
		t.Errorf("%+v holds\n%+v\nwant\n%+v", envelope, r, want)
	}
}

func TestASuitesReportThatAnOldOperatorPackedIsRead(t *testing.T) {
	c := configMap(t, "suite")
	s, err := delivery.DecodeSuite(c.BinaryData, c.Annotations)
	if err != nil {
		t.Fatal(err)
	}
	want, err := report.ReadSuite(unpacked(t, read(t, "reports/four-systems.suite.json.gz")))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Cells) != 8 || !reflect.DeepEqual(s, want) {
		t.Errorf("it holds\n%+v\nwant\n%+v", s, want)
	}
}

func TestTheProgressOfAnOldRunnerIsRead(t *testing.T) {
	p, err := delivery.DecodeProgress(configMap(t, "progress").Data)
	if err != nil || p.Phase != "Refining" || p.Run != 2 || p.Percent != 61 || p.LossRatio != "0.00045" || len(p.LostRuns) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}
