// Package guards creates two kinds of objects in each namespace with tests: NetworkPolicies that let only runners reach generators, and a disruption budget that keeps drains from evicting
// measuring pods. They are created once for each namespace, before its first pods, and stay: tests remain guarded when the operator is gone.
package guards
