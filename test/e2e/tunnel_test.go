//go:build full

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/hack/image/pack"
	"github.com/linerate-dev/linerate/internal/tunnel"
)

// strongSwanImage has this machine's strongSwan and all that it loads.
const strongSwanImage = "example.com/linerate/strongswan:e2e"

// TestATunnelInPods: what goes from link to link comes out of a second gateway, in a pod of its own (the path is proven), and all comes back; the cable between the two carries it.
func TestATunnelInPods(t *testing.T) {
	for name, mode := range map[string]string{
		"wireguard": "mode: {tunnel: {kind: wireguard, network: default/north}}",
		"ipsec":     "mode: {tunnel: {kind: ipsec, cipher: AES-128-GCM, network: default/north}}, image: " + strongSwanImage,
	} {
		t.Run(name, func(t *testing.T) {
			if name == "ipsec" {
				loadStrongSwan(t)
			}
			s := begin(t)
			cable := lab.Listen(t.Context(), "north")
			begun := time.Now()
			s.apply(name, links, `
dut: {type: Reference, reference: {`+mode+`}}
traffic: {profile: FixedSize, frameSize: 512}
procedure: {type: ConstantLoad, constantLoad: {rate: 1kpps, warmupDuration: 2s, duration: 3s, window: 1s}}
`)
			s.running(name)
			for _, pod := range []string{name + "-1-dut", name + "-1-dut-far"} {
				s.tellsNoKey(pod)
			}
			test := s.complete(name, patience)
			s.want(test, "Accepted=True Valid", "Complete=True Measured")
			s.directions(test, 1_000)
			if n := cable.Between(begun, time.Now()); n < 3_000 {
				t.Errorf("%d frames went over the cable, of some 10 000", n)
			}
		})
	}
}

// tellsNoKey: neither what a gateway's pod was made from nor its log has a key, which is 64 hexadecimal digits.
func (s *scene) tellsNoKey(name string) {
	s.Helper()
	for _, what := range s.told(name) {
		if key := regexp.MustCompile(`\b[0-9a-f]{64}\b`).FindString(what); key != "" {
			s.Errorf("pod %s shows what may be a key: %s", name, key)
		}
	}
}

// told is what who may read a pod can see of it: what it was made from, and its log.
func (s *scene) told(pod string) (all []string) {
	s.Helper()
	for _, what := range [][]string{{"get", "pod", pod, "-o", "jsonpath={.spec}{.metadata.annotations}"}, {"logs", pod, "--all-containers"}} {
		out, err := lab.Cluster.Run(s.Context(), "", "kubectl", append([]string{"--", "-n", s.namespace}, what...)...)
		if err != nil {
			s.Fatalf("kubectl %v: %v", what, err)
		}
		all = append(all, out)
	}
	return all
}

// loadStrongSwan makes the image of this machine's strongSwan known to the nodes.
func loadStrongSwan(t *testing.T) {
	t.Helper()
	charon, swanctl, err := tunnel.FindIPsec()
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("%v: hack/ci-packages devices installs it", err)
	default:
		t.Skip(err)
	}
	if swanctl, err = exec.LookPath(swanctl); err != nil {
		t.Fatal(err)
	}
	plugins, err := filepath.Glob(filepath.Dir(charon) + "/plugins/*.so")
	if err != nil {
		t.Fatal(err)
	}
	loadedLater, err := filepath.Glob("/lib/*/libgcc_s.so.1") // by the C library, once a thread is ended: no program names it
	if err != nil || len(loadedLater) == 0 {
		t.Fatalf("no libgcc_s.so.1, without which strongSwan ends by a signal: %v", err)
	}
	files := withLibraries(t, slices.Concat(plugins, loadedLater, []string{charon, swanctl})...)
	if err := lab.Load(t.Context(), strongSwanImage, files, pack.Config{Environment: []string{"PATH=" + filepath.Dir(swanctl)}}); err != nil {
		t.Fatal(err)
	}
}
