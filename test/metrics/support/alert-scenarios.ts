// For every alert: series that make it fire and when, and series that must never make it fire. The times are those of the contract
// one sample a minute, in promtool's notation: `a+bxn` is a, a+b, … a+n·b.

export interface Scenario {
  readonly alert: string;
  readonly severity: "critical" | "warning" | "info";
  readonly fires: readonly string[];
  /** Not yet firing; absent for alerts that wait for nothing. */
  readonly quietAt?: string;
  readonly firesAt: string;
  /** Of the alert, without its severity. */
  readonly labels: Readonly<Record<string, string>>;
  /** One entry per situation that looks similar and is none of its business. */
  readonly quiet: readonly (readonly string[])[];
}

const ENGINE = { namespace: "ns", name: "e", instance: "main" };
const INSTANCE = { namespace: "ns", name: "main" };
const POD = { namespace: "ns", pod: "gateway-0" };
const E = 'namespace="ns",name="e",instance="main"';
const I = 'namespace="ns",name="main"';
const P = 'namespace="ns",pod="gateway-0"';
const W = 'name="vfireboltengine.compute.firebolt.io",type="validating",operation="UPDATE",rejection_code="500"';
const H = `${P},firebolt_io_instance="main",envoy_http_conn_manager_prefix`;

const phase = (name: string, values: string) => `firebolt_engine_status_phase{${E},phase="${name}"} ${values}`;
const instancePhase = (name: string, values: string) =>
  `firebolt_instance_status_phase{${I},phase="${name}"} ${values}`;
const condition = (type: string, values: string) => `firebolt_instance_status_condition{${I},type="${type}"} ${values}`;

export const SCENARIOS: readonly Scenario[] = [
  {
    alert: "FireboltOperatorDown",
    severity: "critical",
    fires: ['up{job="<fn>-metrics",pod="a"} 0x20'],
    quietAt: "4m",
    firesAt: "6m",
    labels: {},
    quiet: [['up{job="<fn>-metrics",pod="a"} 0x90', 'up{job="<fn>-metrics",pod="b"} 1x90']],
  },
  {
    alert: "FireboltOperatorNoLeader",
    severity: "critical",
    fires: ["a", "b"].map((pod) => `leader_election_master_status{name="c662f7f5.firebolt.io",pod="${pod}"} 0x20`),
    quietAt: "1m",
    firesAt: "3m",
    labels: {},
    quiet: [
      [
        'leader_election_master_status{name="c662f7f5.firebolt.io",pod="a"} 0x90',
        'leader_election_master_status{name="c662f7f5.firebolt.io",pod="b"} 1x90',
      ],
      // Nobody is scraped: FireboltOperatorDown.
      [],
    ],
  },
  {
    // Caches that do not fill: the replica runs and is scraped, and has not got as far as the lease.
    alert: "FireboltOperatorNoLeader",
    severity: "critical",
    fires: ['up{job="<fn>-metrics",pod="a"} 1x20'],
    quietAt: "1m",
    firesAt: "3m",
    labels: {},
    quiet: [
      ['up{job="<fn>-metrics",pod="a"} 0x90'],
      [
        'up{job="<fn>-metrics",pod="a"} 1x90',
        'leader_election_master_status{name="c662f7f5.firebolt.io",pod="a"} 1x90',
      ],
    ],
  },
  {
    alert: "FireboltOperatorCannotWatch",
    severity: "critical",
    fires: ['reflector_failures_total{name="pods"} 0+12x60'],
    quietAt: "4m",
    firesAt: "10m",
    labels: { name: "pods" },
    quiet: [
      // A short outage of the API server, once.
      ['reflector_failures_total{name="pods"} 0x5 8x90'],
      ['reflector_failures_total{name="pods"} 500x90'],
    ],
  },
  {
    alert: "FireboltReconcileErrors",
    severity: "warning",
    fires: [
      'controller_runtime_reconcile_errors_total{controller="fireboltengine"} 0+30x60',
      'controller_runtime_reconcile_total{controller="fireboltengine",result="error"} 0+30x60',
      'controller_runtime_reconcile_total{controller="fireboltengine",result="success"} 0+60x60',
    ],
    quietAt: "14m",
    firesAt: "30m",
    labels: { controller: "fireboltengine" },
    quiet: [
      [
        'controller_runtime_reconcile_errors_total{controller="fireboltengine"} 0+10x90',
        'controller_runtime_reconcile_total{controller="fireboltengine",result="error"} 0+10x90',
        'controller_runtime_reconcile_total{controller="fireboltengine",result="success"} 0+60x90',
      ],
      [
        'controller_runtime_reconcile_errors_total{controller="fireboltengine"} 0x90',
        'controller_runtime_reconcile_total{controller="fireboltengine",result="error"} 0x90',
      ],
    ],
  },
  {
    alert: "FireboltReconcilePanic",
    severity: "critical",
    fires: ['controller_runtime_reconcile_panics_total{controller="fireboltengine"} 0x5 1x30'],
    firesAt: "7m",
    labels: { controller: "fireboltengine" },
    quiet: [['controller_runtime_reconcile_panics_total{controller="fireboltengine"} 3x90']],
  },
  {
    alert: "FireboltQueueBacklog",
    severity: "warning",
    fires: ['workqueue_depth{name="fireboltengine",controller="fireboltengine"} 51x30'],
    quietAt: "9m",
    firesAt: "11m",
    labels: { name: "fireboltengine", controller: "fireboltengine" },
    quiet: [
      ['workqueue_depth{name="fireboltengine",controller="fireboltengine"} 50x90'],
      ['workqueue_depth{name="other"} 99x90'],
    ],
  },
  {
    alert: "FireboltEventLoopLag",
    severity: "warning",
    fires: ['nodejs_eventloop_lag_p99_seconds{pod="a"} 0.6x30'],
    quietAt: "9m",
    firesAt: "11m",
    labels: { pod: "a" },
    quiet: [['nodejs_eventloop_lag_p99_seconds{pod="a"} 0.5x90']],
  },
  {
    alert: "FireboltWebhookErrors",
    severity: "critical",
    fires: ['controller_runtime_webhook_requests_total{webhook="/validate",code="500"} 0+1x30'],
    quietAt: "4m",
    firesAt: "10m",
    labels: { webhook: "/validate" },
    quiet: [
      [
        'controller_runtime_webhook_requests_total{webhook="/validate",code="500"} 7x90',
        'controller_runtime_webhook_requests_total{webhook="/validate",code="200"} 0+9x90',
      ],
    ],
  },
  {
    alert: "FireboltWebhookUnreachable",
    severity: "critical",
    fires: [`apiserver_admission_webhook_rejection_count{${W},error_type="calling_webhook_error"} 0+1x30`],
    quietAt: "5m",
    firesAt: "10m",
    labels: { name: "vfireboltengine.compute.firebolt.io" },
    quiet: [
      // Denials by the webhook itself, other webhooks, and one call during a restart.
      [`apiserver_admission_webhook_rejection_count{${W},error_type="no_error"} 0+1x90`],
      ['apiserver_admission_webhook_rejection_count{name="v.example.com",error_type="calling_webhook_error"} 0+1x90'],
      [`apiserver_admission_webhook_rejection_count{${W},error_type="calling_webhook_error"} 7x90`],
    ],
  },
  {
    alert: "FireboltWebhookCertExpiring",
    severity: "warning",
    fires: ["firebolt_operator_webhook_certificate_expiry_timestamp 86400x120"],
    quietAt: "59m",
    firesAt: "61m",
    labels: {},
    quiet: [["firebolt_operator_webhook_certificate_expiry_timestamp 700000x90"], []],
  },
  {
    alert: "FireboltEngineReconcileStale",
    severity: "warning",
    fires: [`firebolt_engine_last_reconciled_timestamp{${E}} 0x30`],
    quietAt: "10m",
    firesAt: "12m",
    labels: ENGINE,
    quiet: [[`firebolt_engine_last_reconciled_timestamp{${E}} 0+60x90`]],
  },
  {
    alert: "FireboltEngineNotReady",
    severity: "warning",
    fires: [`firebolt_engine_status_condition{${E},type="Ready"} 0x30`, phase("stopped", "0x30")],
    quietAt: "14m",
    firesAt: "16m",
    labels: { ...ENGINE, type: "Ready" },
    quiet: [
      [`firebolt_engine_status_condition{${E},type="Ready"} 0x90`, phase("stopped", "1x90")],
      [`firebolt_engine_status_condition{${E},type="Ready"} 1x90`, phase("stopped", "0x90")],
      [`firebolt_engine_status_condition{${E},type="InstanceReady"} 0x90`],
    ],
  },
  {
    alert: "FireboltEngineDown",
    severity: "critical",
    fires: [
      `firebolt_engine_pods_ready{${E}} 0x30`,
      `firebolt_engine_spec_replicas{${E}} 2x30`,
      phase("stable", "1x30"),
    ],
    quietAt: "2m",
    firesAt: "4m",
    labels: ENGINE,
    quiet: [
      [`firebolt_engine_pods_ready{${E}} 0x90`, `firebolt_engine_spec_replicas{${E}} 0x90`, phase("stable", "1x90")],
      [`firebolt_engine_pods_ready{${E}} 0x90`, `firebolt_engine_spec_replicas{${E}} 2x90`, phase("stable", "0x90")],
      [`firebolt_engine_pods_ready{${E}} 1x90`, `firebolt_engine_spec_replicas{${E}} 2x90`, phase("stable", "1x90")],
    ],
  },
  {
    alert: "FireboltEnginePodsMissing",
    severity: "warning",
    fires: [
      `firebolt_engine_pods_ready{${E}} 1x30`,
      `firebolt_engine_spec_replicas{${E}} 2x30`,
      phase("stable", "1x30"),
    ],
    quietAt: "9m",
    firesAt: "11m",
    labels: ENGINE,
    quiet: [
      [`firebolt_engine_pods_ready{${E}} 2x90`, `firebolt_engine_spec_replicas{${E}} 2x90`, phase("stable", "1x90")],
      [`firebolt_engine_pods_ready{${E}} 1x90`, `firebolt_engine_spec_replicas{${E}} 2x90`, phase("stable", "0x90")],
    ],
  },
  {
    alert: "FireboltEngineCreatingStuck",
    severity: "warning",
    fires: [phase("creating", "1x60")],
    quietAt: "29m",
    firesAt: "31m",
    labels: { ...ENGINE, phase: "creating" },
    quiet: [[phase("creating", "1x25 0x5 1x25 0x60")]],
  },
  {
    alert: "FireboltEngineDrainingLong",
    severity: "info",
    fires: [phase("draining", "1x90")],
    quietAt: "59m",
    firesAt: "61m",
    labels: { ...ENGINE, phase: "draining" },
    quiet: [[phase("draining", "1x50 0x60")]],
  },
  {
    alert: "FireboltEngineTransitionStuck",
    severity: "warning",
    fires: [phase("switching", "1x5 0x30"), phase("cleaning", "0x5 1x30")],
    quietAt: "9m",
    firesAt: "11m",
    labels: { namespace: "ns", name: "e" },
    quiet: [[phase("switching", "0x90"), phase("cleaning", "0x90"), phase("draining", "1x90")]],
  },
  {
    alert: "FireboltEngineDrainProbeFailing",
    severity: "warning",
    fires: [`firebolt_engine_drain_check_errors_total{${E}} 0+1x60`],
    quietAt: "8m",
    firesAt: "25m",
    labels: ENGINE,
    quiet: [[`firebolt_engine_drain_check_errors_total{${E}} 0x5 2x90`]],
  },
  {
    alert: "FireboltEngineRollingTooOften",
    severity: "warning",
    fires: [`firebolt_engine_active_generation{${E}} 0+1x20`],
    firesAt: "10m",
    labels: ENGINE,
    quiet: [[`firebolt_engine_active_generation{${E}} 0+1x5 5x90`]],
  },
  {
    alert: "FireboltEngineInstanceNotReady",
    severity: "warning",
    fires: [`firebolt_engine_status_condition{${E},type="InstanceReady"} 0x30`],
    quietAt: "9m",
    firesAt: "11m",
    labels: { ...ENGINE, type: "InstanceReady" },
    quiet: [[`firebolt_engine_status_condition{${E},type="InstanceReady"} 1x90`]],
  },
  {
    alert: "FireboltEngineAutoStopBlind",
    severity: "warning",
    fires: [`firebolt_engine_auto_stop_scrape_failing{${E}} 1x30`],
    quietAt: "14m",
    firesAt: "16m",
    labels: ENGINE,
    quiet: [[`firebolt_engine_auto_stop_scrape_failing{${E}} 1x10 0x90`]],
  },
  {
    alert: "FireboltInstanceReconcileStale",
    severity: "warning",
    fires: [`firebolt_instance_last_reconciled_timestamp{${I}} 0x30`, instancePhase("Failed", "0x30")],
    quietAt: "10m",
    firesAt: "12m",
    labels: INSTANCE,
    quiet: [
      [`firebolt_instance_last_reconciled_timestamp{${I}} 0x90`, instancePhase("Failed", "1x90")],
      [`firebolt_instance_last_reconciled_timestamp{${I}} 0+60x90`, instancePhase("Failed", "0x90")],
    ],
  },
  {
    alert: "FireboltInstanceFailed",
    severity: "critical",
    fires: [instancePhase("Failed", "1x5")],
    firesAt: "1m",
    labels: { ...INSTANCE, phase: "Failed" },
    quiet: [[instancePhase("Failed", "0x90"), instancePhase("Degraded", "1x90")]],
  },
  {
    alert: "FireboltInstanceDegraded",
    severity: "critical",
    fires: [instancePhase("Degraded", "1x20")],
    quietAt: "4m",
    firesAt: "6m",
    labels: { ...INSTANCE, phase: "Degraded" },
    quiet: [[instancePhase("Degraded", "0x90"), instancePhase("Failed", "1x90")]],
  },
  {
    alert: "FireboltInstanceProvisioningStuck",
    severity: "warning",
    fires: [instancePhase("Provisioning", "1x60")],
    quietAt: "19m",
    firesAt: "21m",
    labels: { ...INSTANCE, phase: "Provisioning" },
    quiet: [[instancePhase("Provisioning", "1x15 0x90")]],
  },
  {
    alert: "FireboltGatewayNotReady",
    severity: "critical",
    fires: [condition("GatewayReady", "0x20")],
    quietAt: "2m",
    firesAt: "4m",
    labels: { ...INSTANCE, type: "GatewayReady" },
    quiet: [[condition("GatewayReady", "1x90"), condition("MetadataReady", "0x90")]],
  },
  {
    alert: "FireboltComponentRolloutStuck",
    severity: "warning",
    fires: [`firebolt_instance_component_rollout_stuck{${I},component="gateway"} 1x20`],
    quietAt: "4m",
    firesAt: "6m",
    labels: { ...INSTANCE, component: "gateway" },
    quiet: [[`firebolt_instance_component_rollout_stuck{${I},component="gateway"} 0x90`]],
  },
  {
    alert: "FireboltGateway5xx",
    severity: "critical",
    fires: [
      `envoy_http_downstream_rq_xx{${H}="gateway",envoy_response_code_class="5"} 0+3x30`,
      `envoy_http_downstream_rq_total{${H}="gateway"} 0+100x30`,
    ],
    quietAt: "4m",
    firesAt: "10m",
    labels: { namespace: "ns", firebolt_io_instance: "main" },
    quiet: [
      [
        `envoy_http_downstream_rq_xx{${H}="gateway",envoy_response_code_class="5"} 0+2x90`,
        `envoy_http_downstream_rq_total{${H}="gateway"} 0+100x90`,
      ],
      // Scrapes of the gateway's own statistics are not queries of clients.
      [
        `envoy_http_downstream_rq_xx{${H}="stats",envoy_response_code_class="5"} 0+50x90`,
        `envoy_http_downstream_rq_total{${H}="stats"} 0+50x90`,
        `envoy_http_downstream_rq_xx{${H}="gateway",envoy_response_code_class="5"} 0x90`,
        `envoy_http_downstream_rq_total{${H}="gateway"} 0x90`,
      ],
    ],
  },
  {
    alert: "FireboltWakeShed",
    severity: "warning",
    fires: [`firebolt_gateway_wake_shed_total{${P},engine="e"} 0x2 5x30`],
    firesAt: "4m",
    labels: { namespace: "ns" },
    quiet: [[`firebolt_gateway_wake_shed_total{${P},engine="e"} 5x90`]],
  },
  {
    alert: "FireboltWakeSlow",
    severity: "warning",
    fires: [`firebolt_gateway_wake_pending_holds{${P},engine="e"} 1x20`],
    quietAt: "1m",
    firesAt: "3m",
    labels: { namespace: "ns", engine: "e" },
    quiet: [[`firebolt_gateway_wake_pending_holds{${P},engine="e"} ${"4 0 ".repeat(40).trim()}`]],
  },
  {
    alert: "FireboltWakeAgentFailing",
    severity: "critical",
    fires: [`firebolt_gateway_wake_api_errors_total{${P},operation="write"} 0+30x30`],
    quietAt: "1m",
    firesAt: "6m",
    labels: POD,
    quiet: [
      // A watch that broke with a restart of the API server.
      [`firebolt_gateway_wake_api_errors_total{${P},operation="watch"} 0x5 2x90`],
      [`firebolt_gateway_wake_api_errors_total{${P},operation="write"} 99x90`],
    ],
  },
  {
    alert: "FireboltWakeNamesFlooded",
    severity: "warning",
    fires: [`firebolt_gateway_wake_demand_dropped_total{${P}} 0x2 3x30`],
    firesAt: "4m",
    labels: POD,
    quiet: [[`firebolt_gateway_wake_demand_dropped_total{${P}} 3x90`]],
  },
  {
    alert: "FireboltGatewayResolvesNames",
    severity: "warning",
    fires: [`firebolt_gateway_discovery_active{${P}} 0x30`],
    quietAt: "9m",
    firesAt: "10m",
    labels: POD,
    // An agent that restarts now and then.
    quiet: [[`firebolt_gateway_discovery_active{${P}} 1x90`], [`firebolt_gateway_discovery_active{${P}} 0x8 1x81`]],
  },
  {
    alert: "FireboltGatewayRejectsEndpoints",
    severity: "warning",
    fires: [`firebolt_gateway_discovery_rejected_total{${P}} 0x2 1x30`],
    firesAt: "4m",
    labels: POD,
    quiet: [[`firebolt_gateway_discovery_rejected_total{${P}} 3x90`]],
  },
];

/** Looked at in the situations that must stay quiet. */
export const QUIET_TIMES = ["1m", "7m", "16m", "35m", "65m", "80m"] as const;
