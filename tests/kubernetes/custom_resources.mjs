// Reads objects from standard input; writes what is wrong with each, an empty text where nothing is.
import { readFileSync } from "node:fs";
import { HTTPRoute } from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute";
import { ScaledObject } from "@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject";
import { PrometheusRule } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule";
import { ServiceMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor";

const models = { HTTPRoute, ScaledObject, PrometheusRule, ServiceMonitor };

function fault(object) {
  try {
    new models[object.kind](object).validate();
    return "";
  } catch (error) {
    return error.message || "refused";
  }
}

console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(fault)));
