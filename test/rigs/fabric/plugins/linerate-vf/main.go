// Linerate-vf is a CNI plugin that gives pods virtual functions made of veths, see package fabric.
package main

import (
	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/version"

	"github.com/linerate-dev/linerate/test/rigs/fabric/plugins/cni"
)

func main() {
	skel.PluginMainFuncs(cni.Plugin(), version.VersionsStartingFrom("0.3.1"),
		"linerate-vf: virtual functions made of veths, for tests")
}
