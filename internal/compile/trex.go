package compile

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// ownedSettings are the settings of TRex's configuration file that linerate must know, each with its reason.
func ownedSettings() map[string]string {
	const ports = "TRex's ports are the test's links, in their order"
	const rpc = "the runner asks port 4501"
	return map[string]string{
		"interfaces": ports, "interfaces_vdevs": ports, "interface_mask": ports, "port_limit": ports,
		"zmq_rpc_port": rpc, "zmq_pub_port": rpc, "enable_zmq_pub": rpc,
		"c":       "generator.coresPerPortPair says how many cores there are",
		"version": "linerate writes version 2 of the file",
		"prefix":  "it keeps two TRex on one node apart",
	}
}

// ownedArguments are TRex's arguments that linerate gives it itself.
func ownedArguments() map[string]string {
	const mode = "linerate drives TRex's stateless interactive mode"
	return map[string]string{
		"-i": mode, "--stl": mode, "--astf": mode, "--astf-server-only": mode, "-f": mode, "-d": mode, "-m": mode,
		"-c": "generator.coresPerPortPair says how many cores there are", "--cfg": "generator.trex.config is merged into the file that linerate writes",
		"--prefix": "it keeps two TRex on one node apart", "--iom": "nobody looks at the console", "--no-key": "nobody looks at the console",
	}
}

// checkTRex refuses what would take TRex out of linerate's hands.
func (c *compiler) checkTRex() {
	spec := c.spec.Generator.TRex
	if spec == nil {
		return
	}
	path := specPath().Child("generator", "trex")
	for i, argument := range spec.Args {
		name, _, _ := strings.Cut(argument, "=")
		if why := ownedArguments()[name]; why != "" {
			c.refuse(path.Child("args").Index(i), argument, why+": remove it")
		}
	}
	c.checkConfig(path.Child("config"), spec.Config)
}

func (c *compiler) checkConfig(path *field.Path, settings v1alpha1.Freeform) {
	for _, key := range sortedKeys(settings) {
		if why := ownedSettings()[key]; why != "" {
			c.errs = append(c.errs, field.Invalid(path.Child(key), field.OmitValueType{}, why+": remove it"))
		}
	}
}
