// Probe is the program of the pods in the cluster's test: it echoes datagrams, and asks another one to.
//
//	probe                      echo what comes to port 9000, and say so
//	probe ask ADDRESS          send ten datagrams there and count the echoes
//	probe cpus                 print the processors that it may run on
//	probe api                  ask the API server, by its service address, who we are
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 1:
		err = echo()
	case len(os.Args) == 3 && os.Args[1] == "ask":
		err = ask(os.Args[2])
	case len(os.Args) == 2 && os.Args[1] == "cpus":
		err = cpus()
	case len(os.Args) == 2 && os.Args[1] == "api":
		err = api()
	default:
		err = fmt.Errorf("arguments %q", os.Args[1:])
	}
	if err != nil {
		fmt.Println("probe:", err)
		os.Exit(1)
	}
}

func echo() error {
	conn, err := net.ListenPacket("udp4", ":9000")
	if err != nil {
		return err
	}
	fmt.Println("probe: listening")
	buf := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return err
		}
		if _, err := conn.WriteTo(buf[:n], from); err != nil {
			return err
		}
	}
}

func ask(address string) error {
	conn, err := net.Dial("udp4", net.JoinHostPort(address, "9000"))
	if err != nil {
		return err
	}
	echoed := 0
	buf := make([]byte, 1500)
	for i := range 10 {
		sent := fmt.Appendf(nil, "datagram %d", i)
		if _, err := conn.Write(sent); err != nil {
			return err
		}
		if err := conn.SetReadDeadline(time.Now().Add(2 * time.Second)); err != nil {
			return err
		}
		if n, err := conn.Read(buf); err == nil && bytes.Equal(buf[:n], sent) {
			echoed++
		}
	}
	fmt.Printf("%d of 10 echoed\n", echoed)
	return nil
}

func cpus() error {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, after, _ := strings.Cut(string(text), "Cpus_allowed_list:")
	list, _, _ := strings.Cut(after, "\n")
	fmt.Println(strings.TrimSpace(list))
	return nil
}

const account = "/var/run/secrets/kubernetes.io/serviceaccount/"

func api() error {
	ca, err := os.ReadFile(account + "ca.crt")
	if err != nil {
		return err
	}
	token, err := os.ReadFile(account + "token")
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return errors.New("no authority in ca.crt")
	}
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	server := "https://" + net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"))
	request, err := http.NewRequest(http.MethodPost, server+"/apis/authentication.k8s.io/v1/selfsubjectreviews",
		bytes.NewBufferString(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+string(token))
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(os.Stdout, response.Body)
	return err
}
