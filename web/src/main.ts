import { mount } from 'svelte';
import './app.css';
import { keepToken } from './api/client';
import App from './App.svelte';
import { startTheme } from './model/theme.svelte';

startTheme();
const admitted = keepToken();
const target = document.getElementById('page');
if (target) {
  target.replaceChildren();
  mount(App, { target, props: { admitted } });
}
