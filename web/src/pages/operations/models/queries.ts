import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from '../../../api/client';

const readEndpoints = () => bodyOf(api.GET('/model-endpoints/'));
const readPresets = () => bodyOf(api.GET('/presets/'));

export type Endpoint = Awaited<ReturnType<typeof readEndpoints>>[number];
export type Preset = Awaited<ReturnType<typeof readPresets>>[number];

export const endpointsQuery = queryOptions({ queryKey: ['models', 'endpoints'], queryFn: readEndpoints });
export const presetsQuery = queryOptions({ queryKey: ['models', 'presets'], queryFn: readPresets });
