export function removeData(data: string): void;
