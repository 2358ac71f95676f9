import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from '../../../api/client';

function readEndpoints() {
  return bodyOf(api.GET('/model-endpoints/'));
}

function readPresets() {
  return bodyOf(api.GET('/presets/'));
}

export type Endpoint = Awaited<ReturnType<typeof readEndpoints>>[number];
export type Preset = Awaited<ReturnType<typeof readPresets>>[number];

export const endpointsQuery = queryOptions({ queryKey: ['models', 'endpoints'], queryFn: readEndpoints });
export const presetsQuery = queryOptions({ queryKey: ['models', 'presets'], queryFn: readPresets });
