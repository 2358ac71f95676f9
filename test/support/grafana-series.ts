import { readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';

const FOLDER = new URL('../../deploy/grafana/', import.meta.url);

export interface GrafanaQuery {
  /** The file, and the panel or rule in it. */
  where: string;
  expr: string;
  /** Names of labels that a legend or a sentence shows. */
  shown: string[];
}

interface Dashboard {
  panels: { title: string; targets: { expr: string; legendFormat: string }[] }[];
}
interface Rules {
  groups: { rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[];
}

function read(file: string): string {
  return readFileSync(new URL(file, FOLDER), 'utf8');
}

function shownIn(text: string): string[] {
  return [...text.matchAll(/\{\{ *(?:\$labels\.)?(\w+) *\}\}/g)].map(([, label]) => label!);
}

/** Every query of the dashboards and alert rules. */
export function grafanaQueries(): GrafanaQuery[] {
  return [
    ...readdirSync(FOLDER)
      .filter((file) => file.endsWith('.json'))
      .flatMap((file) =>
        (JSON.parse(read(file)) as Dashboard).panels.flatMap(({ title, targets }) =>
          targets.map(({ expr, legendFormat }) => ({
            where: `${file}: ${title}`,
            expr,
            shown: shownIn(legendFormat),
          })),
        ),
      ),
    ...(parse(read('alerts.yaml')) as Rules).groups.flatMap(({ rules }) =>
      rules.map(({ alert, expr, annotations }) => ({
        where: `alerts.yaml: ${alert}`,
        expr,
        shown: shownIn(JSON.stringify(annotations)),
      })),
    ),
  ];
}

/** The names of series in a query, as they are registered: without what a histogram adds. */
export function seriesIn({ expr }: Pick<GrafanaQuery, 'expr'>): string[] {
  return [
    ...new Set(
      [...expr.matchAll(/\b(?:openrag|tamis|temporal|nodejs|process)_\w+/g)].map(([name]) =>
        name.replace(/_(?:bucket|count|sum)$/, ''),
      ),
    ),
  ];
}

/** The names of labels that a query selects or groups by. */
export function labelsIn({ expr, shown }: GrafanaQuery): string[] {
  return [
    ...new Set([
      ...[...expr.matchAll(/(\w+) *(?:=~|!~|!=|=)(?!=) *"/g)].map(([, label]) => label!),
      ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(/ *, */)),
      ...shown,
    ]),
  ];
}
