// Checks a compose file by its schema, and a file of Kubernetes by the types of its API.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	compose, err := cli.NewProjectOptions([]string{os.Args[1]}, cli.WithEnv([]string{"DOMAIN=jobs.example.com"}))
	if err == nil {
		_, err = compose.LoadProject(context.Background())
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	text, err := os.ReadFile(os.Args[2])
	for _, one := range bytes.Split(text, []byte("\n---\n")) {
		var kind struct{ APIVersion, Kind string }
		_ = yaml.Unmarshal(one, &kind)
		into := map[string]any{
			"apps/v1 StatefulSet": &apps.StatefulSet{}, "v1 Service": &core.Service{}, "v1 Namespace": &core.Namespace{},
			"policy/v1 PodDisruptionBudget": &policy.PodDisruptionBudget{}, "networking.k8s.io/v1 Ingress": &networking.Ingress{},
			"networking.k8s.io/v1 NetworkPolicy": &networking.NetworkPolicy{},
		}[kind.APIVersion+" "+kind.Kind]
		if err == nil && into == nil {
			err = fmt.Errorf("%v is unknown", kind)
		}
		if err == nil {
			err = yaml.UnmarshalStrict(one, into)
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
