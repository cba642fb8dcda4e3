package compile

import (
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// external is a TRex that runs already, a place rather than an engine. linerate starts nothing there, and asks for
// nothing.
type external struct{}

func (external) runsAlready() bool { return true }

// checkPods has nothing to refuse, since there are no pods.
func (external) checkPods(*engineSpec) {}

func (external) resources(*engineSpec) (devices, kernel Resources) { return Resources{}, Resources{} }

func (external) sending(*v1alpha1.GeneratorSpec) *plan.Sending { return nil }
func (external) timesSamplesOnly() bool                        { return trex{}.timesSamplesOnly() }
func (external) whyNoInterfaceCounters() string                { return trex{}.whyNoInterfaceCounters() }

// defaultRPCPort is where TRex listens.
const defaultRPCPort = ":4501"

// check refuses invalid server addresses.
func (external) check(es *engineSpec) {
	for i, server := range es.spec.Generator.External.Servers {
		host, number, _ := cutPort(string(server))
		if len(number) > 5 || len(number) == 5 && number > "65535" {
			es.refusef(specPath().Child("generator", "external", "servers").Index(i), string(server),
				"port %s doesn't exist: use 1 to 65535, such as %s%s", number, host, defaultRPCPort)
		}
	}
}

// server is the replica's address, with its port.
func (external) server(spec *v1alpha1.GeneratorSpec, replica int) string {
	return withPort(string(spec.External.Servers[replica]))
}

// withPort is a server's address with its port, by default TRex's own.
func withPort(server string) string {
	if host, _, found := cutPort(server); !found {
		return host + defaultRPCPort
	}
	return server
}

// cutPort splits host:port. An IPv6 address keeps its brackets.
func cutPort(server string) (host, number string, found bool) {
	i := strings.LastIndexByte(server, ':')
	if i < 0 || strings.HasSuffix(server, "]") {
		return server, "", false
	}
	return server[:i], server[i+1:], true
}
