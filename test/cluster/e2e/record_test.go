//go:build full

package e2e

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

var record = flag.String("record", "", "directory to write what this version stores in a cluster to, as fixtures for those to come, such as testdata/v0.1.0")

// TestRecord keeps what a release leaves in a cluster: tests that ended in different ways, a Report and a Plan.
//
//	go test -count=1 ./test/cluster/e2e -run TestRecord -record testdata/v0.1.0
func TestRecord(t *testing.T) {
	if *record == "" {
		t.Skip("writes fixtures, with -record only")
	}
	s := begin(t)
	s.device(10_000)
	s.apply("measured", links, device, quick, verdict)
	s.keepPlan("measured")
	measured := s.complete("measured", patience)
	s.want(measured, "Complete=True Measured", "Passed=True CriteriaMet")
	s.apply("stopped", links, device, long)
	s.measured("stopped", 3)
	s.change("stopped", `{"stop": true}`)
	s.complete("stopped", time.Minute)
	s.apply("invalid", links, unmeasurable)
	s.complete("invalid", time.Minute)
	for _, name := range []string{"measured", "stopped", "invalid"} {
		s.keep(name+".yaml", s.stored(name))
	}
	s.keepReport(measured)
}

// stored is a LoadTest as it is stored, without what is a cluster's own.
func (s *scene) stored(name string) *lineratev1alpha1.LoadTest {
	s.Helper()
	t := s.get(name)
	t.TypeMeta = metav1.TypeMeta{APIVersion: lineratev1alpha1.GroupVersion.String(), Kind: lineratev1alpha1.LoadTestKind}
	t.ObjectMeta = metav1.ObjectMeta{Name: t.Name, Labels: t.Labels, Annotations: t.Annotations}
	return t
}

// keepPlan keeps the Plan's files as a runner finds them.
func (s *scene) keepPlan(name string) {
	s.Helper()
	s.running(name)
	var plan corev1.ConfigMap
	if err := lab.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name + "-1-plan"}, &plan); err != nil {
		s.Fatal(err)
	}
	s.write("plan/"+delivery.KeyPlan, plan.BinaryData[delivery.KeyPlan])
	s.write("plan/"+delivery.KeySites, plan.BinaryData[delivery.KeySites])
}

// keepReport keeps a Report's ConfigMap, and the Report as a file for the command line.
func (s *scene) keepReport(t *lineratev1alpha1.LoadTest) {
	s.Helper()
	var stored corev1.ConfigMap
	if err := lab.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: t.Status.Report.ConfigMap}, &stored); err != nil {
		s.Fatal(err)
	}
	stored.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	stored.ObjectMeta = metav1.ObjectMeta{Name: stored.Name, Labels: stored.Labels, Annotations: stored.Annotations}
	s.keep("report-configmap.yaml", &stored)
	file, err := os.Create(filepath.Join(*record, "report.json"))
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if err := report.JSON(file, s.report(t)); err != nil {
		s.Fatal(err)
	}
}

func (s *scene) keep(file string, object any) {
	s.Helper()
	text, err := yaml.Marshal(object)
	if err != nil {
		s.Fatal(err)
	}
	s.write(file, text)
}

func (s *scene) write(file string, content []byte) {
	s.Helper()
	path := filepath.Join(*record, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil { // fixtures are for everybody to read
		s.Fatal(err)
	}
}
