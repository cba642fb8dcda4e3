// Package incluster puts a fabric into a cluster that hack/cluster brought up, with functions between its nodes, the
// CNI plugin in them, and the device plugin as a daemon of each, which "cluster kill" and "cluster start" know by the
// name Daemon.
//
//	c := incluster.Cluster{Program: "bin/cluster", Name: "linerate"}
//	nodes, err := c.Nodes()
//	spec := fabric.Across("lab", nodes, 4, "west", "east")
//	err = incluster.Build(ctx, programs)
//	err = c.Install(ctx, spec, programs)
//	err = c.Networks(ctx, "default", spec)
//
// fabric.Remove ends it. A cluster that was brought up again has new nodes, so get them and Install again.
package incluster
