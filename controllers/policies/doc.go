// Package policies installs the policies that each namespace with tests gets. NetworkPolicies let only runners reach
// generators, and a disruption budget keeps drains from evicting measuring pods. They are created once for each
// namespace, before its first pods, and stay, so that tests remain guarded when the operator is gone. The objects
// themselves are in internal/cluster/manifests. The policies of the chart and of config/admission aren't installed
// here.
package policies
