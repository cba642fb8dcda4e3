// Package e2e plays whole LoadTests in a real cluster, with real packets: make e2e. It needs root on Linux and
// Go, nothing else, and has no code of its own but tests.
//
// TestMain brings up what package rig makes: a cluster of two nodes by hack/cluster, the image packed from this
// tree, the chart installed by Helm, and test/rigs/fabric's network cards, whose virtual functions the nodes
// offer as devices:
//
//	node-1: generator, DUT or runner pods ══ west ══╗         ╔══ west ══ node-2: the others
//	                                      ══ east ══╩═ wires ═╩══ east ══
//
// At the end it takes all that down, and fails if anything is left. Tests run one after the other, for two
// measurements at a time would share processors; each has a namespace of its own, and ends with all functions
// at home (scene.end). Tests that ask for no figure are parallel ones, and go last: their scenes are played at
// the same time, each on a pair of wires of its own (beside): on the second pair west is called north, and east
// south.
//
//	go test -count=1 ./test/cluster/e2e                                                 # the gate's scene: TestALab
//	go test -tags full -count=1 -timeout 60m ./test/cluster/e2e                         # everything
//	go test -tags full -count=1 ./test/cluster/e2e -keep -run TestKnownAnswers -v       # the cluster stays up, and the next -keep takes it again
//	go test -tags full -count=1 ./test/cluster/e2e -name other -run TestDeletes         # beside another one
//
// With the tag kueue there is one more test, with a Kueue that is built for it: make e2e-kueue.
//
// What breaks under a running test is tried in test/cluster/faults.
//
// A test begins with begin(t), which gives it its scene: scene.apply makes a LoadTest from YAML, scene.await
// follows it by a watch until it is as wanted, scene.report reads its Report, rig.Wires says what is on the
// wires. What is waited for is always bounded.
package e2e
