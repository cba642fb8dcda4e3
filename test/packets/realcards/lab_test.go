//go:build full

package realcards

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/test/rigs/built"
	"github.com/linerate-dev/linerate/test/rigs/machine"
)

// lab is an emulated machine. Functions 0 of the ports ens1f0 and ens1f1 are the generator's, links west and east. A
// router or bridge in the namespace dut has functions 1.
type lab struct {
	machine  *machine.Machine
	linerate string
}

// start brings a machine up.
func start(t *testing.T, d machine.Description) *lab {
	t.Helper()
	linerate, err := built.Program("linerate")
	if err != nil {
		t.Fatal(err)
	}
	rig, err := machine.Start(t.Context(), machine.Lab{Machines: []machine.Description{d}}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rig.Close)
	return &lab{machine: rig.Machine(""), linerate: linerate}
}

// answer is what a program in the machine printed, and how it ended.
func (l *lab) answer(t *testing.T, stdin string, args ...string) (output string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	var text strings.Builder
	command := l.machine.Command(args[0], args[1:]...)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &text, &text
	command.Env = []string{"NO_COLOR=1"}
	err = command.Run(ctx)
	return text.String(), err
}

// must runs a script that has to succeed.
func (l *lab) must(t *testing.T, script string) string {
	t.Helper()
	output, err := l.answer(t, "", "sh", "-euc", script)
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, output)
	}
	return output
}

// doctor asks linerate doctor, and folds its lines together.
func (l *lab) doctor(t *testing.T, args ...string) string {
	t.Helper()
	output, err := l.answer(t, "", append([]string{l.linerate, "doctor"}, args...)...)
	if _, ended := err.(machine.ExitStatus); err != nil && !ended { //nolint:errorlint // a status is never wrapped
		t.Fatal(err)
	}
	return flat(output)
}

// flat joins the lines of one sentence.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// run plays a test of a few frames on links west and east, and returns all that it says.
func (l *lab) run(t *testing.T, forwarding string, frameSize int) string {
	t.Helper()
	output, err := l.answer(t, loadTest(forwarding, frameSize, "2s"), l.linerate, "run", "-", "--ports",
		"ens1f0v0,ens1f1v0", "--save", "")
	if _, ended := err.(machine.ExitStatus); err != nil && !ended { //nolint:errorlint // a status is never wrapped
		t.Fatal(err)
	}
	return flat(output)
}

// loadTest is a test at a rate that an emulated machine carries.
func loadTest(forwarding string, frameSize int, duration string) string {
	return fmt.Sprintf(`apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: cards}
spec:
  generator: {engine: Software}
  dut: {type: Device, forwarding: %s}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: %d}
  procedure: {type: ConstantLoad, constantLoad: {rate: 50pps, duration: %s}}
`, forwarding, frameSize, duration)
}

// proven is what a run says whose marked frames came back in both directions.
const proven = "listening: listening for background traffic"

// awaitLinks waits until all interfaces have had a carrier for 4 s. A function loses its own up to 2 s after its port
// was reset, as by another MTU.
const awaitLinks = `
links() { cd /sys/class/net; grep . $*; }
calm=0; before=
for i in $(seq 300); do
	now=$(links ens1f[01]/carrier ens1f[01]v0/carrier ens1f[01]/carrier_changes ens1f[01]v0/carrier_changes
		ip netns exec dut grep -r . /sys/class/net/ens1f0v1/carrier /sys/class/net/ens1f1v1/carrier \
			/sys/class/net/ens1f0v1/carrier_changes /sys/class/net/ens1f1v1/carrier_changes) || now=none
	calm=$((calm + 1))
	[ "$now" = "$before" ] && ! echo "$now" | grep -q -e carrier:0 -e none || calm=0
	[ $calm -lt 20 ] || break
	before=$now
	sleep 0.2
done
[ $calm -ge 20 ] || { echo "a link stays down: $now" >&2; exit 1; }
`

// layRouter makes functions 1 a router's.
const layRouter = `
ip netns add dut
for name in ens1f0v1 ens1f1v1; do ip link set $name netns dut; done
ip netns exec dut sh -euc '
	echo 1 > /proc/sys/net/ipv4/ip_forward
	ip link set ens1f0v1 up; ip link set ens1f1v1 up
	ip address add 198.18.0.1/24 dev ens1f0v1; ip address add 198.18.1.1/24 dev ens1f1v1
	ip route add 16.0.0.0/24 via 198.18.0.2; ip route add 48.0.0.0/24 via 198.18.1.2'
ip link set ens1f0v0 up; ip link set ens1f1v0 up
for module in sch_ingress cls_matchall act_gact bridge; do modprobe $module; done
for port in ens1f0 ens1f1 ens1f2; do ethtool -A $port autoneg off rx off tx off; done
` + awaitLinks
