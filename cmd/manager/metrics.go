package main

import (
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// metricsOptions are the options of the metrics server. Over HTTPS, the API server identifies the owner of each
// token (TokenReview), and decides whether the owner may get /metrics (SubjectAccessReview). Over HTTP,
// everybody who reaches the address reads metrics.
func metricsOptions(options Options) (metricsserver.Options, error) {
	served := metricsserver.Options{BindAddress: options.MetricsAddress}
	if !options.MetricsSecure || options.MetricsAddress == "0" {
		return served, nil
	}
	served.SecureServing = true
	served.FilterProvider = filters.WithAuthenticationAndAuthorization
	served.TLSOpts = []func(*tls.Config){onlyHTTP1}
	if options.MetricsCertificates == "" {
		return served, nil // a self-signed certificate is made at the start
	}
	// Without these files, controller-runtime would make a certificate of its own, which a Prometheus that knows
	// the right one would refuse.
	for _, name := range []string{"tls.crt", "tls.key"} {
		if _, err := os.Stat(filepath.Join(options.MetricsCertificates, name)); err != nil {
			return served, fmt.Errorf("--metrics-certificates: %w (it needs tls.crt and tls.key, as a Secret of type "+
				"kubernetes.io/tls has them)", err)
		}
	}
	served.CertDir = options.MetricsCertificates
	return served, nil
}

// onlyHTTP1 disables HTTP/2. A scraper needs one request at a time, and an unauthenticated client can't open
// many streams.
func onlyHTTP1(config *tls.Config) { config.NextProtos = []string{"http/1.1"} }
