package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// etcd is where the API server keeps all objects, by its JSON gateway: as bytes, which no API server has converted, defaulted or given an identity.
type etcd struct{ at *url.URL }

// pair is a stored object.
type pair struct {
	Key   []byte `json:"key"`
	Value []byte `json:"value"`
}

func (e etcd) ask(ctx context.Context, method string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.at.JoinPath("v3/kv", method).String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd: %s: %s", method, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// namespace are all objects of a namespace, and the namespace itself.
func (e etcd) namespace(ctx context.Context, name string) ([]pair, error) {
	var all struct {
		Pairs []pair `json:"kvs"`
	}
	if err := e.ask(ctx, "range", map[string][]byte{"key": []byte("/registry/"), "range_end": []byte("/registry0")}, &all); err != nil {
		return nil, err
	}
	var its []pair
	for _, p := range all.Pairs {
		if strings.Contains(string(p.Key)+"/", "/"+name+"/") {
			its = append(its, p)
		}
	}
	return its, nil
}

func (e etcd) put(ctx context.Context, p pair) error {
	return e.ask(ctx, "put", p, &struct{}{})
}
