package links

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/pod/launch"
)

func TestAPodReportsItsPhysicalPorts(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "termination-log")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	root := fstest.MapFS{
		"status": {Data: []byte(`[{"name":"cbr0","interface":"eth0","default":true},
			{"name":"lab/w","device-info":{"type":"pci","pci":{"pci-address":"0000:3b:02.0"}}},
			{"name":"lab/e","interface":"east","device-info":{"type":"pci",
				"pci":{"pci-address":"0000:3b:0a.0","pf-pci-address":"0000:3b:00.1"}}}]`)},
		"sys/bus/pci/devices/0000:3b:02.0/vendor": {Data: []byte("0x8086")},
		"sys/bus/pci/devices/0000:3b:02.0/physfn": {Data: []byte("../0000:3b:00.0"), Mode: os.ModeSymlink | 0o777},
	}
	var stdout, stderr bytes.Buffer
	o := Ports{Links: []string{"west=lab/w", "east", "north=lab/n"}, Networks: launch.NetworkStatus{File: "/status",
		Wait: time.Second}, TerminationLog: log}
	if err := o.Report(t.Context(), &stdout, &stderr, root); err != nil {
		t.Fatal(err)
	}
	message, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	got, err := plan.ReadPorts(string(message))
	want := plan.Ports{Version: plan.PortsVersion, Links: []plan.LinkPort{
		{Link: "west", Device: "0000:3b:02.0", Port: "0000:3b:00.0", Shared: true},
		{Link: "east", Device: "0000:3b:0a.0", Port: "0000:3b:00.1", Shared: true},
		{Link: "north"},
	}}
	if got.Machine == nil || got.Machine.Kernel == "" || got.Machine.Processors < 1 {
		t.Errorf("of its node it tells %+v", got.Machine)
	}
	got.Machine = nil // whatever this one is
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v; want (-), left (+):\n%s", err, diff)
	}
	if stdout.String() != string(message)+"\n" || stderr.Len() > 0 {
		t.Errorf("it prints %s and says %s", stdout.String(), stderr.String())
	}
}

func TestPortsAreReportedWithoutMultusAnnotation(t *testing.T) {
	var stdout, stderr bytes.Buffer
	o := Ports{Links: []string{"west"}, Networks: launch.NetworkStatus{File: "/none", Wait: time.Millisecond},
		TerminationLog: filepath.Join(t.TempDir(), "none")}
	if err := o.Report(t.Context(), &stdout, &stderr, fstest.MapFS{}); err != nil {
		t.Fatal(err)
	}
	const want = `{"version":"linerate.dev/ports.v1alpha1","links":[{"link":"west"}],"machine":{`
	if !strings.HasPrefix(stdout.String(), want) || stderr.Len() == 0 {
		t.Errorf("it prints %s and says %q", stdout.String(), stderr.String())
	}
}
