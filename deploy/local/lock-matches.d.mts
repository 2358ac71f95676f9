export function lockMatches(root: string): boolean;
