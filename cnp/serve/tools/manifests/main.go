// Command manifests reads Kubernetes manifests strictly into the types of k8s.io/api: an unknown field, a value of another type or a probe
// of a port that the container does not have is an error.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	log.SetFlags(0)
	for _, path := range os.Args[1:] {
		if err := check(path); err != nil {
			log.Fatalf("%s: %v", path, err)
		}
	}
}

func check(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var labels map[string]string // of the pods
	ports := map[string]bool{}
	for i, doc := range bytes.Split(b, []byte("\n---\n")) {
		var kind struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(doc, &kind); err != nil {
			return fmt.Errorf("document %d: %w", i, err)
		}
		switch kind.APIVersion + " " + kind.Kind {
		case "apps/v1 Deployment":
			var d appsv1.Deployment
			if err := yaml.UnmarshalStrict(doc, &d); err != nil {
				return err
			}
			labels = d.Spec.Template.Labels
			if err := selects(d.Spec.Selector.MatchLabels, labels); err != nil {
				return err
			}
			for _, c := range d.Spec.Template.Spec.Containers {
				for _, p := range c.Ports {
					ports[p.Name] = true
				}
				for _, p := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
					if p == nil || p.HTTPGet == nil || !ports[p.HTTPGet.Port.StrVal] {
						return errors.New("a probe is missing, or asks a port that is not there")
					}
				}
			}
		case "v1 Service":
			var s corev1.Service
			if err := yaml.UnmarshalStrict(doc, &s); err != nil {
				return err
			}
			if err := selects(s.Spec.Selector, labels); err != nil {
				return err
			}
			for _, p := range s.Spec.Ports {
				if !ports[p.TargetPort.StrVal] {
					return fmt.Errorf("the service's port %s goes to none", p.Name)
				}
			}
		case "policy/v1 PodDisruptionBudget":
			var p policyv1.PodDisruptionBudget
			if err := yaml.UnmarshalStrict(doc, &p); err != nil {
				return err
			}
			if err := selects(p.Spec.Selector.MatchLabels, labels); err != nil {
				return err
			}
		case "batch/v1 Job":
			var j batchv1.Job
			if err := yaml.UnmarshalStrict(doc, &j); err != nil {
				return err
			}
			if err := shards(&j.Spec); err != nil {
				return err
			}
		default:
			return fmt.Errorf("document %d is a %s %s, whose schema is not known here", i, kind.APIVersion, kind.Kind)
		}
	}
	return nil
}

// shards reports a job whose pods are not the shards that its program is told of, or that the API server would refuse.
func shards(j *batchv1.JobSpec) error {
	if j.CompletionMode == nil || *j.CompletionMode != batchv1.IndexedCompletion || j.Completions == nil {
		return errors.New("the job is not indexed")
	}
	pod := j.Template.Spec
	if pod.RestartPolicy != corev1.RestartPolicyNever {
		return errors.New("a failure policy needs restartPolicy: Never")
	}
	if j.BackoffLimitPerIndex == nil || j.MaxFailedIndexes == nil || *j.MaxFailedIndexes > *j.Completions {
		return errors.New("FailIndex needs backoffLimitPerIndex, and at most as many failed indexes as there are")
	}
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
	}
	containers := map[string]bool{}
	for _, c := range pod.Containers {
		containers[c.Name] = true
		if want := fmt.Sprintf("--shards=%d", *j.Completions); !slices.Contains(c.Args, want) {
			return fmt.Errorf("container %s lacks %s", c.Name, want)
		}
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				return fmt.Errorf("volume %s is missing", m.Name)
			}
		}
	}
	for _, r := range j.PodFailurePolicy.Rules {
		if on := r.OnExitCodes; on != nil && (on.ContainerName == nil || !containers[*on.ContainerName]) {
			return errors.New("a rule of failures names no container")
		}
	}
	return nil
}

// selects reports a selector that does not choose the pods.
func selects(selector, labels map[string]string) error {
	if len(selector) == 0 {
		return errors.New("a selector is empty")
	}
	for k, v := range selector {
		if labels[k] != v {
			return fmt.Errorf("a selector wants %s=%s, the pods have %q", k, v, labels[k])
		}
	}
	return nil
}
