package demo

import (
	"context"

	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// coldStart tells the component all that it has to know before it probes anything. The store's
// sync comes last.
func (s *script) coldStart() {
	f := s.fleet
	s.say("cold start: %d pods; %d of their agents hang for good", f.options.Pods, f.options.Hung)
	for _, p := range f.pods {
		f.store.put(p)
	}
	s.component.SetPodStore(f.store)
	s.component.HandleEvent(core.ConfigValidated{
		AgentPort: f.port, PodSelector: labelName + "=" + labelValue,
	})
	s.component.HandleEvent(core.CredentialsUpdated{Credentials: f.credentials})
	f.store.markSynced()
	s.component.HandleEvent(shell.ResourceSyncComplete{Resource: core.HAProxyPods})
}

// replacePod is the rolling update of a StatefulSet: a new pod under the old name, and often at
// the old address, which only the UID tells apart.
func (s *script) replacePod(context.Context) error {
	f, old := s.fleet, s.pickPod()
	ip, where := old.ip, "the same address"
	if f.random.IntN(2) == 0 {
		ip, where = f.freeAddress(), "a new address"
	}
	next := f.newPod(old.name, ip, upgraded(old.version))
	slow := f.random.IntN(2) == 0
	if slow {
		where += " with a slow agent"
	}
	s.say("rollout: %s replaced by a new pod on %s, HAProxy %s", old, where, next.version)
	old.agent.stop()
	if err := f.startAgent(next, agentState{slow: slow, version: next.version}); err != nil {
		return err
	}
	f.pods = append(lo.Without(f.pods, old), next)
	s.update(next)
	return nil
}

// rollOver is the rolling update of a Deployment: the new pod has a name of its own and comes
// before the old one goes.
func (s *script) rollOver(ctx context.Context) error {
	f, old := s.fleet, s.pickPod()
	next := f.newPod(f.newName(), f.freeAddress(), upgraded(old.version))
	s.say("rollout: %s comes for %s; its agent does not know its HAProxy yet", next, old)
	if err := f.startAgent(next, agentState{}); err != nil {
		return err
	}
	f.pods = append(f.pods, next)
	s.update(next)
	if err := s.wait(ctx, 0.4); err != nil {
		return err
	}
	s.say("rollout: %s is terminating", old)
	old.terminating = true
	s.update(old)
	if err := s.wait(ctx, 0.2); err != nil {
		return err
	}
	s.say("rollout: %s is gone; the agent of %s knows its HAProxy, %s", old, next, next.version)
	old.agent.stop()
	f.pods = lo.Without(f.pods, old)
	f.store.remove(old)
	s.tell(old)
	next.agent.become(agentState{version: next.version})
	return nil
}

// crash takes down an agent's container. Once it is running again, its agent needs a moment until
// it listens.
func (s *script) crash(ctx context.Context) error {
	p := s.pickPod()
	s.say("crash: the agent container of %s is down", p)
	p.agent.stop()
	p.agentCrashed = true
	s.update(p)
	if err := s.wait(ctx, 0.3); err != nil {
		return err
	}
	s.say("crash: the agent container of %s is restarted, but does not listen yet", p)
	p.restartAgentContainer()
	s.update(p)
	if err := s.wait(ctx, 0.4); err != nil {
		return err
	}
	s.say("crash: the agent of %s listens again", p)
	return s.fleet.startAgent(p, agentState{version: p.version})
}

// hang shows that admission is no health checking: only the restart of the container, which the
// kubelet's liveness check would see to, takes the pod out of the fleet.
func (s *script) hang(ctx context.Context) error {
	p := s.pickPod()
	s.say("hang: the agent of %s is silent; it was admitted, so it stays", p)
	p.agent.become(agentState{hung: true})
	if err := s.wait(ctx, 1); err != nil {
		return err
	}
	s.say("hang: the agent container of %s is restarted; its agent is silent still", p)
	p.agent.stop()
	if err := s.fleet.startAgent(p, agentState{hung: true}); err != nil {
		return err
	}
	p.restartAgentContainer()
	s.update(p)
	if err := s.wait(ctx, 1.2); err != nil {
		return err
	}
	s.say("hang: the agent of %s answers again", p)
	p.agent.become(agentState{version: p.version})
	return nil
}

// rotateCredentials: for a moment the agents accept both, since they do not all learn of it at once.
func (s *script) rotateCredentials(ctx context.Context) error {
	f := s.fleet
	next, err := f.newCredentials()
	if err != nil {
		return err
	}
	s.say("rotation: new credentials; the agents still accept the old ones, too")
	f.accounts.accept(f.credentials, next)
	f.credentials = next
	s.component.HandleEvent(core.CredentialsUpdated{Credentials: next})
	if err := s.wait(ctx, 0.5); err != nil {
		return err
	}
	s.say("rotation: the agents accept only the new credentials")
	f.accounts.accept(next)
	return nil
}

func (s *script) changeLeader(context.Context) error {
	s.say("leader: this replica leads now; its consumers need the fleet again")
	s.component.HandleEvent(core.BecameLeader{})
	return nil
}

func (s *script) heartbeat(context.Context) error {
	p := s.fleet.pods[s.fleet.random.IntN(len(s.fleet.pods))]
	s.say("heartbeat: %s has a new resource version, and nothing else that matters", p)
	p.lastHeartbeat = p.lastHeartbeat.Add(s.fleet.tick)
	s.update(p)
	return nil
}
