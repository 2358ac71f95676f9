import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from '../../../api/client';

function readEndpoints() {
  return bodyOf(api.GET('/model-endpoints/'));
}

function readPresets() {
  return bodyOf(api.GET('/presets/'));
}

function readPrompts() {
  return bodyOf(api.GET('/prompts/', { params: { query: { limit: 500 } } }));
}

export type Endpoint = Awaited<ReturnType<typeof readEndpoints>>[number];
export type Preset = Awaited<ReturnType<typeof readPresets>>[number];
export type Prompt = Awaited<ReturnType<typeof readPrompts>>[number];

export const endpointsQuery = queryOptions({ queryKey: ['models', 'endpoints'], queryFn: readEndpoints });
export const presetsQuery = queryOptions({ queryKey: ['models', 'presets'], queryFn: readPresets });
export const promptsQuery = queryOptions({ queryKey: ['models', 'prompts'], queryFn: readPrompts });
