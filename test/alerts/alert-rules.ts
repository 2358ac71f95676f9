import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export interface AlertRule {
  alert: string;
  expr: string;
  for: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}
interface RuleFile {
  groups: { name: string; rules: AlertRule[] }[];
}

export const RULES_FILE = fileURLToPath(new URL('../../deploy/grafana/alerts.yaml', import.meta.url));

function read(): RuleFile {
  return parse(readFileSync(RULES_FILE, 'utf8')) as RuleFile;
}

export function alertRules(): AlertRule[] {
  return read().groups.flatMap(({ rules }) => rules);
}

/**
 * The same rules for a test that cannot wait for hours: the windows of their rates and how long each has to hold are
 * seconds. What is compared with what stays as it is, but for the ages in seconds.
 */
export function hurriedRules(window: string, hold: string): RuleFile {
  return {
    groups: read().groups.map((group) => ({
      ...group,
      rules: group.rules.map((rule) => ({
        ...rule,
        for: hold,
        expr: rule.expr.replaceAll(/\[\d+m\]/g, `[${window}]`),
      })),
    })),
  };
}
