package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
)

// device is a router outside the cluster, with the addresses that a LoadTest has by default: what a box in the rack would be. It ends with
// the scene.
//
//	pods ── west ──┐         ┌────── bench ──────┐
//	               └─ wire ──┤ 198.18.0.1        │
//	pods ── east ─── wire ───┤ 198.18.1.1        │
//	                         └───────────────────┘
func (s *scene) device(packetsPerSecond int64) {
	s.Helper()
	file := filepath.Join(s.TempDir(), "links.json")
	text, err := json.Marshal(deviceLinks(lab))
	if err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		s.Fatal(err)
	}
	var words strings.Builder
	program := filepath.Join(lab.Programs, "router")
	cmd := exec.Command(program, "-links", file, "-limit", fmt.Sprint(packetsPerSecond))
	cmd.Stderr = &words
	if err := lab.OnBench(cmd); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	err = wait.PollUntilContextTimeout(s.Context(), 50*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		asks := exec.Command(program, "-ready")
		if err := lab.OnBench(asks); err != nil {
			return false, err
		}
		return asks.Wait() == nil, nil
	})
	if err != nil {
		s.Fatalf("the device doesn't forward: %v: %s", err, words.String())
	}
}

// deviceLinks are the links that the device must learn of: a LoadTest's defaults.
func deviceLinks(r *rig.Rig) plan.Links {
	end := func(link, address, next, network string) plan.LinkEnd {
		return plan.LinkEnd{Name: link, Interface: r.BenchInterface(link), Addresses: []netip.Prefix{netip.MustParsePrefix(address)},
			Generators: []plan.Peer{{Name: "generator-0", Address: netip.MustParseAddr(next), Networks: []netip.Prefix{netip.MustParsePrefix(network)}}}}
	}
	return plan.Links{Version: plan.LinksVersion, Test: "device", Forwarding: plan.L3, Links: []plan.LinkEnd{
		end("west", "198.18.0.1/24", "198.18.0.2", "16.0.0.0/24"), end("east", "198.18.1.1/24", "198.18.1.2", "48.0.0.0/24")}}
}
