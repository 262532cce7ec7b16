// What Grafana's published types say of a dashboard, for values as they stand in JSON.
import type { AnnotationQuery, Dashboard, DataQuery, FieldConfig, Panel, RowPanel } from '@grafana/schema';
import type { FieldConfig as LineConfig, Options as LineOptions } from '@grafana/schema/dist/types/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen.d.ts';
import type { Options as StatOptions } from '@grafana/schema/dist/types/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen.d.ts';

// A member of an enum is its text.
type Json<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: Json<T[K]> } : T;

// What the Prometheus source adds to each query and annotation; the package has no types of it.
interface PromQuery extends DataQuery {
  expr: string;
  editorMode?: 'code' | 'builder';
  range?: boolean;
  instant?: boolean;
  legendFormat?: string;
}
interface PromAnnotation extends AnnotationQuery<PromQuery> {
  titleFormat: string;
  textFormat: string;
}

type Of<Kind, Options, Custom> = Omit<Panel, 'type' | 'options' | 'targets' | 'fieldConfig'> & {
  type: Kind;
  options: Options;
  targets: PromQuery[];
  fieldConfig: { defaults: Omit<FieldConfig, 'custom'> & Custom; overrides: never[] };
};
type Row = Omit<RowPanel, 'type'> & { type: 'row' };
type Lines = Of<'timeseries', LineOptions, { custom: LineConfig }>;
type Stat = Of<'stat', StatOptions, object>;

export type Page = Json<
  Omit<Dashboard, 'panels' | 'annotations'> & {
    panels: Array<Row | Lines | Stat>;
    annotations: { list: PromAnnotation[] };
  }
>;
