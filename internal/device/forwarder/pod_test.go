package forwarder_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// The test binary also plays the program in a pod, which sets up the forwarder that its standard input describes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "configure-here" {
		if err := configureHere(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func configureHere() error {
	var spec forwarder.Spec
	if err := json.NewDecoder(os.Stdin).Decode(&spec); err != nil {
		return err
	}
	info, err := forwarder.Configure(context.Background(), nil, spec)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(info)
}

// inPod runs configureHere as in an unprivileged pod, with network and mounts of its own, /proc/sys read-only,
// and no rights but over the network.
func inPod(t *testing.T, spec forwarder.Spec) (stdout, stderr string, err error) {
	t.Helper()
	netnstest.Root(t)
	const pod = `mount --make-rprivate / && mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys &&
		ip link add west type veth peer name w && ip link add east type veth peer name e &&
		ip link set w up && ip link set e up &&
		setpriv --inh-caps=-all,+net_admin,+net_raw --ambient-caps=-all,+net_admin,+net_raw \
			--bounding-set=-all,+net_admin,+net_raw "$0" configure-here &&
		ip -4 netconf show dev west`
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	order, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "--net", "--mount", "sh", "-c", pod, exe)
	var output, errors bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(order), &output, &errors
	err = cmd.Run()
	return output.String(), errors.String(), err
}

func podSpec(addresses ...string) forwarder.Spec {
	links := []forwarder.Link{{Interface: "west"}, {Interface: "east"}}
	for i := range links {
		for _, a := range addresses {
			links[i].Addresses = append(links[i].Addresses, netip.MustParsePrefix(fmt.Sprintf(a, i)))
		}
	}
	return forwarder.Spec{Forwarding: plan.L3, Links: links,
		Directions: []forwarder.Direction{{From: "west", To: "east"}, {From: "east", To: "west"}}}
}

func TestInAPodWithReadOnlySysctls(t *testing.T) {
	t.Run("IPv4 forwarding is turned on through rtnetlink", func(t *testing.T) {
		stdout, stderr, err := inPod(t, podSpec("198.18.%d.1/24"))
		if err != nil || !strings.Contains(stdout, "forwarding on rp_filter off") {
			t.Errorf("%v: %s\n%s", err, stdout, stderr)
		}
	})
	t.Run("a limit works without further rights", func(t *testing.T) {
		for _, limit := range []plan.Limit{{PacketsPerSecond: 1000}, {Layer2BitsPerSecond: 1_000_000}} {
			spec := podSpec("198.18.%d.1/24")
			spec.Limit = &limit
			if stdout, stderr, err := inPod(t, spec); err != nil || strings.Count(stdout, "limit ") != 2 {
				t.Errorf("%v: %s\n%s", err, stdout, stderr)
			}
		}
	})
	t.Run("IPv6 forwarding can't be, and the message says what can", func(t *testing.T) {
		_, stderr, err := inPod(t, podSpec("2001:2:0:%x::1/64"))
		if err == nil || !strings.Contains(stderr, "set net.ipv6.conf.all.forwarding=1 by the tuning CNI plugin") {
			t.Errorf("%v: %s", err, stderr)
		}
	})
}
